import { RunError } from '../../../core/errors.js';
import type { GenerationSettings } from './settings.js';

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
