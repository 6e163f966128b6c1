import { printable } from '../../runtime/core/printable.js';

/** Steps of the proof, in order. */
export type StepName = 'id' | 'signature' | 'config' | 'files' | 'network' | 'golden';

/** Result of one step. */
export interface Step {
  step: StepName;
  passed: boolean;
  /** One line. */
  detail: string;
  /** Problems, one line each; only the first of many. */
  problems: string[];
}

/** Most problems listed per step. */
const MAX_PROBLEMS = 20;

/**
 * Control characters are replaced, because names come from untrusted images.
 * @returns a step that has passed when there is no problem
 */
export function stepOf(step: StepName, detail: string, problems: readonly string[]): Step {
  const shown = problems.slice(0, MAX_PROBLEMS).map(printable);
  if (problems.length > shown.length) shown.push(`and ${problems.length - shown.length} more`);
  return { step, passed: problems.length === 0, detail: printable(detail), problems: shown };
}

/** One line per step, with its problems below. */
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
