import { z } from 'zod';
import { activation } from '../../blocks/activation.js';
import { attention } from '../../blocks/attention.js';
import { headWidth } from '../../blocks/heads.js';
import { linear } from '../../blocks/linear.js';
import { layerNorm } from '../../blocks/norm.js';
import { patches, pictureInput, withTokens } from '../../blocks/pictures.js';
import { splitRows } from '../../blocks/projections.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { epsilon, layers, size } from '../config.js';
import { edges, gridSize } from '../pictures/config.js';

export const blipPictures = z.object({
  hidden_size: size.default(768),
  intermediate_size: size.default(3072),
  num_hidden_layers: layers.default(12),
  num_attention_heads: size.default(12),
  image_size: edges.default([384, 384]),
  patch_size: edges.default([16, 16]),
  hidden_act: z.string().default('gelu'),
  layer_norm_eps: epsilon.default(1e-5),
});
type Config = z.output<typeof blipPictures>;

const CHANNELS = 3;

/** A state for each patch behind one for the whole picture: float32 [rows, 1 + patches, width]. */
export function blipStates(g: GraphWriter, c: Config): Value {
  const at = (name: string) => `vision_model.${name}`;
  const { hidden_size: width, layer_norm_eps: epsilon } = c;
  const pixels = pictureInput(g, CHANNELS, c.image_size);
  const { tokens } = patches(g, pixels, at('embeddings.patch_embedding'), {
    ...{ channels: CHANNELS, width, patch: c.patch_size },
  });
  const whole = g.weight(at('embeddings.class_embedding'), [1, 1, width]);
  const [lines, columns] = gridSize(c.image_size, c.patch_size);
  const places = g.weight(at('embeddings.position_embedding'), [1, lines * columns + 1, width]);
  let x = g.node('Add', [withTokens(g, tokens, [whole], width), places]);
  for (let i = 0; i < c.num_hidden_layers; i++) x = writeLayer(g, x, c, at(`encoder.layers.${i}`));
  return layerNorm(g, x, at('post_layernorm'), { width, epsilon });
}

function writeLayer(g: GraphWriter, x: Value, c: Config, name: string): Value {
  const { hidden_size: width, num_attention_heads: heads, intermediate_size: inner } = c;
  const norm = { width, epsilon: c.layer_norm_eps };
  const read = layerNorm(g, x, `${name}.layer_norm1`, norm);
  const fused = linear(g, read, `${name}.self_attn.qkv`, { from: width, to: 3 * width });
  const parts = splitRows(g, fused, { heads, keyHeads: heads, width: headWidth(width, heads) });
  const attended = attention(g, parts, { heads, width });
  const output = linear(g, attended, `${name}.self_attn.projection`, { from: width, to: width });
  const middle = g.node('Add', [output, x]);
  const normed = layerNorm(g, middle, `${name}.layer_norm2`, norm);
  const wide = activation(g, linear(g, normed, `${name}.mlp.fc1`, { from: width, to: inner }), c.hidden_act);
  return g.node('Add', [linear(g, wide, `${name}.mlp.fc2`, { from: inner, to: width }), middle]);
}
