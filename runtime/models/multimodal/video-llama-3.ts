import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { channels } from '../bases/vision/vit-config.js';
import { epsilon, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear, matMulTransposed } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { preNormLayer, type PreNormNames } from '../layers/pre-norm-layer.js';
import { rotate } from '../layers/rope.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { languageModel } from './language-model.js';
import { cellGrid, inCells, patchTurns } from './patch-cells.js';
import { small } from './qwen2-vl/vision.js';

const vision = z.object({
  ...{ hidden_size: size.default(768), intermediate_size: size.default(3072) },
  ...{ num_hidden_layers: layers.default(12), num_attention_heads: size.default(12) },
  ...{ num_channels: channels, patch_size: small.default(16) },
  hidden_act: z.string().default('gelu_pytorch_tanh'),
  layer_norm_eps: epsilon.default(1e-6),
  rope_theta: z.number().positive().default(10_000),
});
type Vision = z.output<typeof vision>;

const config = z.object({ text_config: languageModel('qwen2'), vision_config: vision.prefault({}) });
type Config = z.output<typeof config>;

const NAMES: PreNormNames = {
  attentionNorm: 'layer_norm1',
  ...{ query: 'self_attn.q_proj', key: 'self_attn.k_proj', value: 'self_attn.v_proj' },
  output: 'self_attn.out_proj',
  ...{ norm: 'layer_norm2', wide: 'mlp.fc1', narrow: 'mlp.fc2' },
};

const at = (name: string) => `vision_model.${name}`;

/** float32 [patches, width] of a product of all numbers of a patch. */
function embedded(
  g: GraphWriter,
  { hidden_size: width, num_channels: count, patch_size: edge }: Vision,
): Value {
  const numbers = count * edge * edge;
  const pixels = g.input('pixel_values', 'float32', ['patches', numbers]);
  const weight = g.weight(at('embeddings.patch_embedding.weight'), [width, count, edge, edge]);
  const product = matMulTransposed(g, pixels, g.node('Reshape', [weight, g.ints([width, numbers])]));
  return g.node('Add', [product, g.weight(at('embeddings.patch_embedding.bias'), [width])]);
}

/** `image_features` [features, width] of an image's patches, one each; inputs are as Qwen2-VL's. */
function writeEncoder(g: GraphWriter, { vision_config: c, text_config: { width: to } }: Config): void {
  const { hidden_size: width, num_attention_heads: heads, layer_norm_eps: epsilon } = c;
  const grid = cellGrid(g, g.input('image_grid_thw', 'int64', [1, 3]), { merge: 1, width });
  const ofHead = headWidth(width, heads);
  const turn = patchTurns(g, grid, ofHead, c.rope_theta);
  let x = inCells(g, embedded(g, c), grid, width);
  for (let layer = 0; layer < c.num_hidden_layers; layer++)
    x = preNormLayer(g, x, {
      ...{ width, heads, inner: c.intermediate_size, act: c.hidden_act, epsilon },
      ...{ names: NAMES, at: (name) => at(`encoder.layers.${layer}.${name}`) },
      turn: (part) => rotate(g, part, turn, { heads, width: ofHead }),
    });
  const ended = layerNorm(g, x, at('post_layernorm'), { width, epsilon });
  const rows = g.node('Reshape', [ended, g.ints([-1, width])]);
  const wide = g.node('Gelu', [linear(g, rows, 'projector.readout.0', { from: width, to })]);
  const features = linear(g, wide, 'projector.readout.2', { from: to, to });
  g.output('image_features', features, 'float32', ['features', to]);
}

/** SigLIP's encoder with heads that turn, for images of any size, before Qwen 2. modeling_video_llama_3.py */
export const videoLlama3 = defineFamily({
  modelTypes: ['video_llama_3'],
  readers: { prompts: { image: 'video-llama-3' } },
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  limits: ['Videos are not read.'],
  config,
  prefixes: [],
  parts: {
    'model.': ['model.language_model.', 'language_model.model.', 'language_model.'],
    'vision_model.': ['model.vision_model.', 'vision_model.'],
    'projector.': ['model.projector.', 'projector.'],
  },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});
