import * as z from 'zod';
import { RunError } from '../core/errors.js';
import { formatOne, strip } from './python-text.js';

/** Each label is a row of the model's run. */
const MOST_LABELS = 1000;

function labelsIn(split: (given: string) => string[]) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((given) => (typeof given === 'string' ? split(given) : given))
    .refine((list) => list.length > 0, 'needs at least one label')
    .refine((list) => list.length <= MOST_LABELS, `takes at most ${MOST_LABELS} labels`);
}

const byCommas = (given: string) => given.split(',', MOST_LABELS + 1);

export const candidateLabels = labelsIn((given) =>
  byCommas(given)
    .map(strip)
    .filter((label) => label !== ''),
).describe('at most 1000 labels, as an array or in one string with commas between them');

/** Labels of detectors, whose blanks stay in Python. */
export const objectLabels = labelsIn(byCommas).describe(
  'at most 1000 labels, as an array or in one string with commas (and no blanks) between them',
);

/**
 * Inserts each label into the template.
 * @throws RunError 400 for a template without a placeholder
 */
export function hypothesesOf(candidates: readonly string[], template: string): string[] {
  const fill = formatOne(template);
  if (fill && fill(candidates[0]!) !== template) return candidates.map(fill);
  throw new RunError(
    'invalid_input',
    'params.hypothesis_template: needs {} where the label goes; other braces are written twice',
  );
}
