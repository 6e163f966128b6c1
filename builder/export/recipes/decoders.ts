import type { Head } from '../../../runtime/core/handles/index.js';
import type { ExportRecipe, Sizes } from '../types.js';
import { type Json, number, numbersNamed } from './config.js';

/** Axes of a batch of texts. */
export const ROW: readonly string[] = ['rows', 'length'];
export const TRACED: Sizes = { rows: 2, length: 7 };
/** `past` of the `length` tokens are in the cache. */
export const PROBES: readonly Sizes[] = [
  { rows: 1, length: 9, past: 0 },
  { rows: 3, length: 16, past: 0 },
  { rows: 1, length: 14, past: 13 },
  { rows: 3, length: 29, past: 24 },
];

/** Decoders that write texts, as one graph of any number of tokens behind a cache. @returns undefined for other heads */
export function decoderRecipe(
  head: Head,
  config: Json,
): Omit<ExportRecipe, 'modelType'> | string | undefined {
  if (head !== 'causal-lm') return undefined;
  const vocabulary = number(config['vocab_size']);
  if (vocabulary === undefined || vocabulary < 8) return 'config.json says no vocab_size';
  return {
    ...{ class: 'AutoModelForCausalLM', config: {}, mayMiss: [], outputs: ['logits'] },
    inputs: {
      input_ids: {
        ...{ kind: 'tokens', axes: ROW, low: Math.floor(vocabulary / 4), high: vocabulary },
        ...{ avoid: numbersNamed(config, /_token_id$/), fixed: [], pad: number(config['pad_token_id']) ?? 0 },
      },
      attention_mask: { kind: 'mask', axes: ROW },
    },
    ...{ free: ROW, padding: 'left', decoder: true, traced: TRACED, probes: PROBES },
  };
}
