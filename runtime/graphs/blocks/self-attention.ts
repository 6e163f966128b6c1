import type { GraphWriter, Value } from '../graph-writer.js';
import { type CachedAttention, cachedAttention, type Projected } from './cached-attention.js';
import type { DecoderInputs } from './decoder-inputs.js';

import { rotary, rotate } from './rotary.js';
import type { RotaryConfig } from './rotary-frequencies.js';

export interface SelfAttention extends Omit<CachedAttention, 'mask'> {
  /** Tokens that a token sees, itself included; all if absent. */
  window?: number | undefined;
  /** Absent where heads are not turned. */
  rotary?: RotaryConfig | undefined;
  /** True where neighbours are turned as pairs, and not the two halves of a head. */
  interleaved?: boolean | undefined;
}

/** Attention of a decoder's fed tokens to all before them, their heads turned by their places. */
export function selfAttention(
  g: GraphWriter,
  inputs: DecoderInputs,
  { query, key, value }: Projected,
  { window, rotary: config, interleaved = false, ...attention }: SelfAttention,
): Value {
  const { heads, keyHeads, width } = attention;
  const turned = (x: Value, count: number) =>
    config
      ? rotate(g, x, rotary(g, inputs.positions, config, width), { heads: count, width, interleaved })
      : x;
  const projected = { query: turned(query, heads), key: turned(key, keyHeads), value };
  return cachedAttention(g, inputs, projected, { ...attention, mask: inputs.mask(window) });
}
