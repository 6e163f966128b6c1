import { printable } from '../../runtime/core/printable.js';

/** Parts of the proof, in their order. */
export type StepName = 'id' | 'signature' | 'config' | 'files' | 'network' | 'golden';

/** What one part of the proof found. */
export interface Step {
  step: StepName;
  passed: boolean;
  /** One line. */
  detail: string;
  /** What is wrong, one line each; the first of many. */
  problems: string[];
}

/** More of them help nobody. */
const MOST_PROBLEMS = 20;

/**
 * Names come from images that anybody may have made, and must not steer the reader's terminal.
 * @returns a step that has passed when there is no problem
 */
export function stepOf(step: StepName, detail: string, problems: readonly string[]): Step {
  const shown = problems.slice(0, MOST_PROBLEMS).map(printable);
  if (problems.length > shown.length) shown.push(`and ${problems.length - shown.length} more`);
  return { step, passed: problems.length === 0, detail: printable(detail), problems: shown };
}

/** For people: one line a step, with its problems below. */
export function proofText(steps: readonly Step[]): string {
  return steps
    .map(({ step, passed, detail, problems }) =>
      [
        `${passed ? 'ok  ' : 'FAIL'}  ${step.padEnd(9)}  ${detail}`,
        ...problems.map((problem) => `                 ${problem}`),
      ].join('\n'),
    )
    .join('\n');
}
