import { z } from 'zod';
import { RunError } from '../core/errors.js';
import { formatOne, strip } from './python-text.js';

/** Each of them is a row that the model computes. */
const MOST_LABELS = 1000;

export const candidateLabels = z
  .union([z.string(), z.array(z.string())])
  .transform((given) =>
    typeof given === 'string'
      ? given
          .split(',', MOST_LABELS + 1)
          .map(strip)
          .filter((label) => label !== '')
      : given,
  )
  .refine((list) => list.length > 0, 'needs at least one label')
  .refine((list) => list.length <= MOST_LABELS, `takes at most ${MOST_LABELS} labels`)
  .describe('at most 1000 labels, as an array or in one string with commas between them');

/**
 * The template with each label in its place.
 * @throws RunError 400 for a template without one
 */
export function hypothesesOf(candidates: readonly string[], template: string): string[] {
  const fill = formatOne(template);
  if (fill && fill(candidates[0]!) !== template) return candidates.map(fill);
  throw new RunError(
    'invalid_input',
    'params.hypothesis_template: needs {} where the label goes; other braces are written twice',
  );
}
