import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import type { Decoder } from '../bases/decoder/decoder.js';
import { llamaDecoder } from '../bases/decoder/llama-decoder.js';
import { channels } from '../bases/vision/vit-config.js';
import { epsilon, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear, matMulTransposed } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { preNormLayer, type PreNormNames } from '../layers/pre-norm-layer.js';
import { rotate } from '../layers/rope.js';
import { ernieConfig, ernieModel } from '../text/ernie4-5.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { cellGrid, type CellGrid, inCells, inOrder, patchTurns, resizedPositions } from './patch-cells.js';
import { AXES, sectionAxes, textBeside } from './qwen2-vl/family.js';
import { small } from './qwen2-vl/vision.js';

const vision = z.object({
  ...{ hidden_size: size.default(1152), intermediate_size: size.default(4304) },
  ...{ num_hidden_layers: layers.default(27), num_attention_heads: size.default(16), num_channels: channels },
  ...{ image_size: size.default(384), patch_size: small.default(14), spatial_merge_size: small.default(2) },
  hidden_act: z.string().default('gelu_pytorch_tanh'),
  layer_norm_eps: epsilon.default(1e-6),
  rope_theta: z.number().positive().default(10_000),
});
type Vision = z.output<typeof vision>;

const config = textBeside(z.object({ text_config: ernieConfig, vision_config: vision }));
type Config = z.output<typeof config>;

/** Pairs of time, height and width where the file does not say. */
const SECTIONS = [16, 24, 24];

function decoderOf(c: Config['text_config']): Decoder {
  const model = ernieModel(c);
  const rotary = { ...c, axes: sectionAxes(c, model.headWidth, SECTIONS) };
  return llamaDecoder({ ...model, interleaved: false, rotary: () => rotary });
}

const BASE = 'visual.vision_model.';

const NAMES: PreNormNames = {
  attentionNorm: 'layer_norm1',
  ...{ query: 'self_attn.q_proj', key: 'self_attn.k_proj', value: 'self_attn.v_proj' },
  output: 'self_attn.out_proj',
  ...{ norm: 'layer_norm2', wide: 'mlp.fc1', narrow: 'mlp.fc2' },
};

/** A product of all numbers of a patch, and its position in a table of another size: float32 [frames, patches, width], cell by cell. */
function embedded(g: GraphWriter, grid: CellGrid, c: Vision): Value {
  const { hidden_size: width, num_channels: count, patch_size: edge } = c;
  const numbers = count * edge * edge;
  const pixels = g.input('pixel_values', 'float32', ['patches', numbers]);
  const at = (name: string) => `${BASE}embeddings.${name}`;
  const weight = g.weight(at('patch_embedding.weight'), [width, count, edge, edge]);
  const product = matMulTransposed(g, pixels, g.node('Reshape', [weight, g.ints([width, numbers])]));
  const tokens = g.node('Add', [product, g.weight(at('patch_embedding.bias'), [width])]);
  const side = Math.floor(c.image_size / edge);
  const table = g.weight(at('position_embedding.weight'), [side * side, width]);
  const positions = resizedPositions(g, grid, { table, side, width, mode: 'linear' });
  return g.node('Add', [inCells(g, tokens, grid, width), positions]);
}

/** `image_features` [features, width] of an image's patches; inputs are as Qwen2-VL's. */
function writeEncoder(g: GraphWriter, { vision_config: c, text_config: text }: Config): void {
  const { hidden_size: width, num_attention_heads: heads, spatial_merge_size: merge } = c;
  const grid = cellGrid(g, g.input('image_grid_thw', 'int64', [1, 3]), { merge, width });
  const ofHead = headWidth(width, heads);
  const turn = patchTurns(g, grid, ofHead, c.rope_theta);
  let x = embedded(g, grid, c);
  for (let layer = 0; layer < c.num_hidden_layers; layer++)
    x = preNormLayer(g, x, {
      ...{ width, heads, inner: c.intermediate_size, act: c.hidden_act, epsilon: c.layer_norm_eps },
      ...{ names: NAMES, at: (name) => `${BASE}encoder.layers.${layer}.${name}` },
      turn: (part) => rotate(g, part, turn, { heads, width: ofHead }),
    });
  const ended = layerNorm(g, x, `${BASE}post_layernorm`, { width, epsilon: c.layer_norm_eps });
  const normed = layerNorm(g, ended, 'mlp_AR.pre_norm', { width, epsilon: 1e-5 });
  const joined = width * merge * merge;
  const cells = inOrder(g, normed, grid, joined);
  const wide = g.node('Gelu', [linear(g, cells, 'mlp_AR.linear_1', { from: joined, to: joined })]);
  const to = text.hidden_size;
  const features = linear(g, wide, 'mlp_AR.linear_2', { from: joined, to });
  g.output('image_features', features, 'float32', ['features', to]);
}

/** SigLIP's encoder with heads that turn, and ERNIE 4.5, which counts positions on three axes. modeling_paddleocr_vl.py */
export const paddleocrVl = defineFamily({
  modelTypes: ['paddleocr_vl'],
  readers: { prompts: { image: 'paddleocr-vl' } },
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: {
    'model.': ['model.language_model.', 'model.', 'language_model.'],
    'visual.': ['visual.', 'model.visual.'],
    'mlp_AR.': ['mlp_AR.', 'model.projector.', 'projector.'],
  },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => decoderOf(c.text_config), { axes: AXES }),
      vision_encoder: writeEncoder,
    },
  },
});
