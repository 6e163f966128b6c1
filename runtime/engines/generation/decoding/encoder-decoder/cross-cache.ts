import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { shapeOf, typeOf } from '../../../sessions/tensors.js';
import { cacheTensor } from '../cache/kv-cache.js';
import { elementBytes, elements } from '../../../sessions/elements.js';

/**
 * Cache inputs of an encoder-decoder export: keys and values of the tokens (`decoder`) and of the source (`encoder`).
 * Decoders without cross-attention caches keep only those of the tokens, under plain names.
 */
export const CACHE_INPUT = /^past_key_values\.\d+\.(?:(?:decoder|encoder)\.)?(?:key|value)$/;

/** The output that fills a cache input. */
export const presentName = (input: string): string => input.replace('past_key_values', 'present');

/** What a merged decoder wants at its cache inputs before there is a cache: one row [1, heads, 0, width] each. */
export function emptyCrossCache(session: InferenceSession, config: Json): Record<string, Tensor> {
  const names = session.inputNames.filter((name) => CACHE_INPUT.test(name));
  return Object.fromEntries(names.map((name) => [name, emptyTensor(session, name, config)]));
}

function emptyTensor(session: InferenceSession, name: string, config: Json): Tensor {
  const [, heads, , width] = shapeOf(session, name);
  const given = (value: number | string | undefined, fallback: number) =>
    typeof value === 'number' && value > 0 ? value : fallback;
  const allHeads =
    firstNumber(config, 'decoder_attention_heads', 'num_decoder_attention_heads', 'num_heads') ?? 1;
  const model = firstNumber(config, 'd_model', 'hidden_size') ?? allHeads;
  const dims = [1, given(heads, allHeads), 0, given(width, firstNumber(config, 'd_kv') ?? model / allHeads)];
  const type = typeOf(session, name) === 'float16' ? 'float16' : 'float32';
  return cacheTensor(type, elements(type, 0), dims);
}

/** True for a cache input that comes from the source. */
export const isCrossAttention = (name: string): boolean => name.includes('.encoder.');

/** Bytes per token of the answer (`self`) and per state of the source (`cross`), by the shapes of an empty cache. */
export function crossCacheBytesPerToken(empty: Record<string, Tensor>): { self: number; cross: number } {
  const bytes = { self: 0, cross: 0 };
  for (const [name, { type, dims }] of Object.entries(empty)) {
    const [, heads, , width] = dims as [number, number, number, number];
    bytes[isCrossAttention(name) ? 'cross' : 'self'] += heads * width * elementBytes(type);
  }
  return bytes;
}
