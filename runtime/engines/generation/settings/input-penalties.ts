import { RunError } from '../../../core/errors.js';
import type { GenerateOptions } from '../../../core/handles/index.js';
import type { Json } from '../../repository/model-folder.js';

/** Settings that read the tokens of the input. */
const NAMES = ['encoder_repetition_penalty', 'encoder_no_repeat_ngram_size'] as const;

/** What a repository sets for a model that Python hands vectors instead of tokens: it leaves these settings out there. */
export const withoutInputPenalties = (repository: Json): Json =>
  Object.fromEntries(Object.entries(repository).filter(([name]) => !NAMES.some((one) => one === name)));

/** @throws RunError 422 where a request to such a model sets one */
export function refuseInputPenalties(options: GenerateOptions): void {
  const asked = NAMES.find((name) => options[name] !== undefined && options[name] !== null);
  if (asked === undefined) return;
  throw new RunError('unprocessable', `params.${asked}: this model generates from vectors, not from tokens`);
}
