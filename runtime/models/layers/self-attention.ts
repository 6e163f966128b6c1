import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { type CachedAttention, cachedAttention, type Projected } from './cached-attention.js';
import type { DecoderInputs } from './decoder-inputs.js';
import { rotary, rotate } from './rope.js';
import type { RotaryConfig } from './rope-frequencies.js';

export interface SelfAttention extends Omit<CachedAttention, 'mask'> {
  /** In place of the mask of what comes before. */
  mask?: Value | undefined;
  /** Tokens that a token sees, itself included; all if absent. */
  window?: number | undefined;
  /** Parts of a text that see nothing of each other; as in DecoderInputs. */
  chunk?: number | undefined;
  /** Absent where heads are not turned. */
  rotary?: RotaryConfig | undefined;
  /** True where neighbours are turned as pairs, and not the two halves of a head. */
  interleaved?: boolean | undefined;
  /** What queries and keys go through once they are turned. */
  behind?: Partial<Record<'query' | 'key', (x: Value) => Value>> | undefined;
}

/** Attention of a decoder's fed tokens to all before them, their heads rotated by their positions. */
export function selfAttention(
  g: GraphWriter,
  inputs: DecoderInputs,
  { query, key, value }: Projected,
  { window, chunk, rotary: config, interleaved = false, behind, ...attention }: SelfAttention,
): Value {
  const { heads, keyHeads, width } = attention;
  const turned = (x: Value, count: number) =>
    config
      ? rotate(g, x, rotary(g, inputs.positions, config, width), { heads: count, width, interleaved })
      : x;
  const [queries, keys] = [turned(query, heads), turned(key, keyHeads)];
  const projected = {
    query: behind?.query?.(queries) ?? queries,
    key: behind?.key?.(keys) ?? keys,
    value,
  };
  return cachedAttention(g, inputs, projected, {
    ...{ ...attention, mask: attention.mask ?? inputs.mask(window, chunk) },
  });
}
