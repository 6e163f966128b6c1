import * as z from 'zod';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { layerNorm } from '../../layers/norm.js';
import { imageInput } from '../../layers/patch-embed.js';
import { stageFields, stagesOf } from '../backbone/stages.js';
import { dinov2Config, dinov2Embeddings, dinov2Layer } from './family.js';

/** DINOv2 within another network, which reads the states of some layers. */
export const dinov2BackboneConfig = dinov2Config.and(
  z.object({
    model_type: z.literal('dinov2'),
    ...stageFields,
    apply_layernorm: z.boolean().default(true),
    reshape_hidden_states: z.literal(false),
  }),
);
type Config = z.output<typeof dinov2BackboneConfig>;

export interface LayerStates {
  /** float32 [rows, 1 + patches, width] of each layer that is read. */
  states: Value[];
  /** int64 [2] */
  grid: Value;
}

const BASE = 'backbone.';

export function dinov2Backbone(g: GraphWriter, c: Config): LayerStates {
  const wanted = new Set(stagesOf(c, c.num_hidden_layers));
  const { tokens, grid } = dinov2Embeddings(g, c, BASE, imageInput(g, c.num_channels));
  const states = [tokens];
  for (let layer = 0; layer < c.num_hidden_layers; layer++)
    states.push(dinov2Layer(g, states.at(-1)!, c, { base: BASE, layer }));
  const norm = { width: c.hidden_size, epsilon: c.layer_norm_eps };
  const read = states
    .filter((_, stage) => wanted.has(stage))
    .map((x) => (c.apply_layernorm ? layerNorm(g, x, `${BASE}layernorm`, norm) : x));
  return { states: read, grid };
}
