import * as z from 'zod';
import { layerNorm } from '../../layers/norm.js';
import { patches, imageInput, withTokens } from '../../layers/patch-embed.js';
import { preNormLayer } from '../../layers/pre-norm-layer.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { epsilon, layers, size } from '../../config-fields.js';
import { edges, gridSize } from '../../bases/vision/vit-config.js';

export const blipImages = z.object({
  hidden_size: size.default(768),
  intermediate_size: size.default(3072),
  num_hidden_layers: layers.default(12),
  num_attention_heads: size.default(12),
  image_size: edges.default([384, 384]),
  patch_size: edges.default([16, 16]),
  hidden_act: z.string().default('gelu'),
  layer_norm_eps: epsilon.default(1e-5),
});
type Config = z.output<typeof blipImages> & { qkv_bias?: boolean };

const CHANNELS = 3;

const NAMES = {
  ...{ attentionNorm: 'layer_norm1', query: 'self_attn.qkv', output: 'self_attn.projection' },
  ...{ norm: 'layer_norm2', wide: 'mlp.fc1', narrow: 'mlp.fc2' },
};

/** A state for each patch behind one for the whole image: float32 [rows, 1 + patches, width]. */
export function blipStates(g: GraphWriter, c: Config): Value {
  const at = (name: string) => `vision_model.${name}`;
  const { hidden_size: width, layer_norm_eps: epsilon } = c;
  const pixels = imageInput(g, CHANNELS, c.image_size);
  const { tokens } = patches(g, pixels, at('embeddings.patch_embedding'), {
    ...{ channels: CHANNELS, width, patch: c.patch_size },
  });
  const whole = g.weight(at('embeddings.class_embedding'), [1, 1, width]);
  const [lines, columns] = gridSize(c.image_size, c.patch_size);
  const positions = g.weight(at('embeddings.position_embedding'), [1, lines * columns + 1, width]);
  let x = g.node('Add', [withTokens(g, tokens, [whole]), positions]);
  for (let i = 0; i < c.num_hidden_layers; i++)
    x = preNormLayer(g, x, {
      ...{ width, epsilon, heads: c.num_attention_heads, inner: c.intermediate_size, act: c.hidden_act },
      biases: { query: c.qkv_bias ?? true },
      ...{ names: NAMES, at: (name) => at(`encoder.layers.${i}.${name}`) },
    });
  return layerNorm(g, x, at('post_layernorm'), { width, epsilon });
}
