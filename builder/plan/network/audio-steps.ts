import type { AudioNetwork } from '../../../runtime/core/network.js';
import type { Json } from './config-fields.js';
import { sizesOf } from './sizes.js';
import { parsedConfig, traitsOf } from './traits.js';

/** Inputs and outputs of a convolution, and what its activation makes of them. */
const TENSORS = 3;

/**
 * How a network makes steps of audio of any length, from config.json: undefined for one over spectrograms whose length is
 * fixed, and where nothing is known.
 */
export function audioNetwork(config: Json): AudioNetwork | undefined {
  const { audio } = traitsOf(config);
  const own = audio && parsedConfig(config);
  if (own !== undefined) return audio!(own);
  const [strides, widths] = [numbers(config['conv_stride']), numbers(config['conv_dim'])];
  if (strides.length === 0 || widths.length === 0) return undefined;
  const { hidden, intermediate, heads } = sizesOf(config);
  return { strides, widths, tensors: TENSORS, sizes: { hidden, intermediate, heads } };
}

const numbers = (value: unknown): number[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'number' && item > 0)
    ? (value as number[])
    : [];
