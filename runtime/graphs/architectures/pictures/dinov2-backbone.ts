import * as z from 'zod';
import { GraphError } from '../../errors.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { layerNorm } from '../../blocks/norm.js';
import { pictureInput } from '../../blocks/pictures.js';
import { dinov2Config, dinov2Embeddings, dinov2Layer } from './dinov2.js';

/** DINOv2 within another network, which reads the states of some layers. */
export const dinov2BackboneConfig = dinov2Config.and(
  z.object({
    model_type: z.literal('dinov2'),
    out_features: z.array(z.string()).nullish(),
    out_indices: z.array(z.int()).nullish(),
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
  const wanted = stagesOf(c);
  const { tokens, grid } = dinov2Embeddings(g, c, BASE, pictureInput(g, c.num_channels));
  const states = [tokens];
  for (let layer = 0; layer < c.num_hidden_layers; layer++)
    states.push(dinov2Layer(g, states.at(-1)!, c, { base: BASE, layer }));
  const norm = { width: c.hidden_size, epsilon: c.layer_norm_eps };
  const read = states
    .filter((_, stage) => wanted.has(stage))
    .map((x) => (c.apply_layernorm ? layerNorm(g, x, `${BASE}layernorm`, norm) : x));
  return { states: read, grid };
}

/** Which states are read: 0 is what the first layer reads. */
function stagesOf({ out_features, out_indices, num_hidden_layers: last }: Config): Set<number> {
  const found = out_features?.map((name) => (name === 'stem' ? 0 : Number(/^stage(\d+)$/.exec(name)?.[1]))) ??
    out_indices?.map((index) => (index < 0 ? last + 1 + index : index)) ?? [last];
  if (found.some((stage) => !(stage >= 0 && stage <= last)))
    throw new GraphError('config.json: the backbone has no such stage');
  return new Set(found);
}
