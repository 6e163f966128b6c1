import { RunError } from '../../../core/errors.js';
import type { GenerationSettings } from './settings.js';

/**
 * Refuses a prompt of tokens that can't be read.
 * @throws RunError 400 that names the first one
 */
export function checkPromptTokens(ids: readonly number[], vocabulary: number): void {
  if (ids.length === 0) throw new RunError('invalid_input', 'params.prompt_token_ids: must not be empty');
  const at = ids.findIndex((id) => id >= vocabulary);
  if (at < 0) return;
  throw new RunError(
    'invalid_input',
    `params.prompt_token_ids: there is no token ${ids[at]}, this model has ${vocabulary}`,
  );
}

/**
 * Refuses tokens that the model doesn't have, where Python fails on them, too (elsewhere they do no harm).
 * @throws RunError 422 that names the parameter
 */
export function checkTokenIds(settings: GenerationSettings, size: number): void {
  const { badWords, sequenceBias, logitBias, forcedBosTokenId, forcedEosTokenIds } = settings;
  const given: [name: string, ids: Iterable<readonly number[]>][] = [
    ['logit_bias', logitBias.map(([ids]) => ids)],
    ['sequence_bias', sequenceBias.map(([ids]) => ids)],
    ['bad_words_ids', badWords],
    ['forced_bos_token_id', [forcedBosTokenId === undefined ? [] : [forcedBosTokenId]]],
    ['forced_eos_token_id', [forcedEosTokenIds]],
  ];
  for (const [name, sequences] of given) {
    for (const ids of sequences) {
      const unknown = ids.find((id) => id >= size);
      if (unknown !== undefined) {
        throw new RunError(
          'unprocessable',
          `params.${name}: there is no token ${unknown}, this model has ${size}`,
        );
      }
    }
  }
}
