import { GraphError } from '../../writer/errors.js';
import type { LlamaLike } from './llama-decoder.js';

/** How queries grow with their positions by what rope's settings say of it. @throws GraphError where Python would fail */
export function llama4Growth(scaling: Readonly<Record<string, unknown>>): LlamaLike['queryGrowth'] & {} {
  const [beta, length] = [scaling['llama_4_scaling_beta'], scaling['original_max_position_embeddings']];
  if (typeof beta === 'number' && typeof length === 'number' && length >= 1) return { beta, length };
  throw new GraphError(
    'config.json: rope_parameters have no llama_4_scaling_beta or no original_max_position_embeddings',
  );
}
