import { RunError } from '../../core/errors.js';
import { firstNumber, type Json, textConfig } from './model-folder.js';

interface CacheInput {
  name: string;
  /** Numbers where fixed, anything else where free. */
  shape: readonly unknown[];
}

/** [heads, width] of a cache input [batch, heads, past, width], from the graph or else from config.json. */
export function cacheShape({ name, shape }: CacheInput, config: Json): [number, number] {
  if (shape.length !== 4)
    throw new RunError('not_ready', `cache input ${name} has ${shape.length} axes, not 4`);
  const text = textConfig(config);
  const heads = firstNumber(text, 'num_attention_heads', 'n_head', 'num_heads') ?? 0;
  const hidden = firstNumber(text, 'hidden_size', 'n_embd', 'd_model') ?? 0;
  // Some exporters name a fixed size by its digits.
  const asNumber = (value: unknown, otherwise: number) => {
    const size = typeof value === 'string' ? Number(value) : value;
    return typeof size === 'number' && size > 0 ? size : otherwise;
  };
  return [
    asNumber(shape[1], firstNumber(text, 'num_key_value_heads') ?? heads),
    asNumber(shape[3], firstNumber(text, 'head_dim') ?? hidden / heads),
  ];
}
