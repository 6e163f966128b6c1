import { float } from '../writer/attributes.js';
import { type GraphWriter, MICROSOFT, type Value } from '../writer/graph-writer.js';
import { headWidth } from './head-sizes.js';

/** Least float32, with which Python masks. */
const LEAST = -3.4028234663852886e38;

export interface Attended {
  /** float32 [rows, tokens, heads · width] each; keys and values may be of other tokens than queries. */
  query: Value;
  key: Value;
  value: Value;
}

export interface AttentionOptions {
  heads: number;
  /** Of all heads together. */
  width: number;
  /** What scores are multiplied with; 1 / sqrt(width of a head) if absent. */
  scale?: number;
  /** int32 [rows, tokens of the keys], 0 for padding. */
  padding?: Value | undefined;
  /** Added to the scores: float32 [1 or rows, 1 or heads, queries, keys]. */
  bias?: Value | undefined;
  /** Tokens see those before them and themselves only. */
  causal?: boolean;
}

/**
 * softmax(scale q·kᵀ + bias)·v for each head, the heads side by side: float32 [rows, tokens, heads · width].
 * @throws GraphError where so many heads don't fit
 */
export function attention(
  g: GraphWriter,
  { query, key, value }: Attended,
  { heads, width, scale, padding = '', bias = '', causal = false }: AttentionOptions,
): Value {
  headWidth(width, heads);
  const inputs = [query, key, value, '', padding, bias];
  while (inputs.at(-1) === '') inputs.pop();
  const attributes = {
    num_heads: heads,
    mask_filter_value: float(LEAST),
    unidirectional: causal ? 1 : undefined,
    scale: scale === undefined ? undefined : float(scale),
  };
  return g.node('MultiHeadAttention', inputs, attributes, MICROSOFT);
}
