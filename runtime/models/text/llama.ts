import * as z from 'zod';
import { defineFamily } from '../family.js';
import { llamaConfig, llamaSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';

const config = z.object({ ...llamaConfig, mlp_bias: z.boolean().default(false) });

/** The sizes of a configuration with Llama's fields. */
export function llamaOf(c: z.output<typeof config>) {
  const sizes = llamaSizes(c);
  return { ...sizes, bias: { ...sizes.bias, feedForward: c.mlp_bias } };
}

/** modeling_llama.py */
export const llama = defineFamily({
  modelTypes: ['llama'],
  config,
  ...llamaLike<z.output<typeof config>>(llamaOf),
});
