/** What one part of the proof found. */
export interface Step {
  step: 'files' | 'network' | 'golden';
  passed: boolean;
  /** One line. */
  detail: string;
  /** What is wrong, one line each; the first of many. */
  problems: string[];
}

/** More of them help nobody. */
const MOST_PROBLEMS = 20;

/** @returns a step that has passed when there is no problem */
export function stepOf(step: Step['step'], detail: string, problems: readonly string[]): Step {
  const shown = problems.slice(0, MOST_PROBLEMS);
  if (problems.length > shown.length) shown.push(`and ${problems.length - shown.length} more`);
  return { step, passed: problems.length === 0, detail, problems: shown };
}

/** For people: one line a step, with its problems below. */
export function proofText(steps: readonly Step[]): string {
  return steps
    .map(({ step, passed, detail, problems }) =>
      [
        `${passed ? 'ok  ' : 'FAIL'}  ${step.padEnd(7)}  ${detail}`,
        ...problems.map((problem) => `               ${problem}`),
      ].join('\n'),
    )
    .join('\n');
}
