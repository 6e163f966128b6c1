import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { channels } from '../bases/vision/vit-config.js';
import { layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { imageInput } from '../layers/patch-embed.js';
import { preNormLayer, type PreNormNames } from '../layers/pre-norm-layer.js';
import { type Rotary, rotate, turns } from '../layers/rope.js';
import { rotaryFrequencies } from '../layers/rope-frequencies.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { joinedNeighbours } from './idefics3.js';
import { languageModel, PARTS } from './language-model.js';

const edge = z.int().min(1).max(4096);

const vision = z.object({
  ...{
    hidden_size: size.default(768),
    intermediate_size: size.default(5632),
    num_hidden_layers: layers.default(34),
  },
  ...{ num_attention_heads: size.default(16), num_channels: channels },
  ...{ image_size: edge.default(448), patch_size: edge.default(14) },
  vision_output_dim: size.default(7680),
  pixel_shuffle_ratio: z
    .number()
    .min(1 / 64)
    .max(1)
    .default(0.5),
  ...{ projector_input_dim: size.default(4096), projector_output_dim: size.default(4096) },
  rope_theta: z.number().positive().default(10_000),
});
type Vision = z.output<typeof vision>;

const config = z.object({ text_config: languageModel('llama4_text'), vision_config: vision.prefault({}) });
type Config = z.output<typeof config>;

/** Of torch's LayerNorm, whatever the file says. */
const EPSILON = 1e-5;
/** Python's, whatever the file says. */
const ACT = 'gelu';

const NAMES: PreNormNames = {
  ...{ attentionNorm: 'input_layernorm', norm: 'post_attention_layernorm' },
  ...{ query: 'self_attn.q_proj', key: 'self_attn.k_proj', value: 'self_attn.v_proj' },
  ...{ output: 'self_attn.o_proj', wide: 'mlp.fc1', narrow: 'mlp.fc2' },
};

const sideOf = (c: Vision): number => Math.floor(c.image_size / c.patch_size);

/** Patches line by line, channel by channel each: float32 [rows, patches, width]. Llama4UnfoldConvolution */
function patchesOf(g: GraphWriter, pixels: Value, c: Vision): Value {
  const [side, edge, count] = [sideOf(c), c.patch_size, c.num_channels];
  if (side * edge !== c.image_size) throw new GraphError('config.json: image_size is not of whole patches');
  const parted = g.node('Reshape', [pixels, g.ints([0, count, side, edge, side, edge])]);
  const together = g.node('Transpose', [parted], { perm: [0, 2, 4, 1, 3, 5] });
  const from = count * edge * edge;
  const lines = g.node('Reshape', [together, g.ints([0, side * side, from])]);
  return linear(g, lines, 'vision_model.patch_embedding.linear', { from, to: c.hidden_size, bias: false });
}

/** The same with the class behind them, in their positions. */
function embedded(g: GraphWriter, patches: Value, c: Vision): Value {
  const { hidden_size: width } = c;
  const rows = g.node('Shape', [patches], { start: 0, end: 1 });
  const shape = g.node('Concat', [rows, g.ints([1, width])], { axis: 0 });
  const last = g.node('Expand', [g.weight('vision_model.class_embedding', [width]), shape]);
  const all = g.node('Concat', [patches, last], { axis: 1 });
  const positions = g.weight('vision_model.positional_embedding_vlm', [sideOf(c) ** 2 + 1, width]);
  return g.node('Add', [all, positions]);
}

/** The first half of a head's pairs turns by the column of a patch, the second one by its line; the class is not turned. */
function turnsOf(g: GraphWriter, rows: Value, c: Vision): Rotary {
  const [side, width] = [sideOf(c), headWidth(c.hidden_size, c.num_attention_heads)];
  if (width % 4 !== 0)
    throw new GraphError(`config.json: heads of width ${width} can't be turned on two axes`);
  const { values } = rotaryFrequencies({ rope_theta: c.rope_theta, max_position_embeddings: 1 }, width / 2);
  const positions = Array.from({ length: side * side }, (_, i) => [1 + (i % side), 1 + Math.floor(i / side)]);
  const table = g.floats([...positions, [0, 0]].flat(), [1, side * side + 1, 2]);
  const axes = Array.from({ length: width / 2 }, (_, i) => (i < width / 4 ? 0 : 1));
  const one = g.node('Gather', [table, g.ints(axes)], { axis: 2 });
  const shape = g.node('Concat', [rows, g.ints([1, 1])], { axis: 0 });
  const frequencies = g.floats([...values, ...values], [1, 1, width / 2]);
  return turns(g, g.node('Expand', [one, shape]), { frequencies, half: width / 2 });
}

/** What the encoder gives for patches: float32 [rows, patches, width]. */
function statesOf(g: GraphWriter, c: Vision): Value {
  const { hidden_size: width, num_attention_heads: heads, intermediate_size: inner } = c;
  const pixels = imageInput(g, c.num_channels);
  const size = { width, epsilon: EPSILON };
  let x = layerNorm(g, embedded(g, patchesOf(g, pixels, c), c), 'vision_model.layernorm_pre', size);
  const turn = turnsOf(g, g.node('Shape', [pixels], { start: 0, end: 1 }), c);
  for (let layer = 0; layer < c.num_hidden_layers; layer++)
    x = preNormLayer(g, x, {
      ...{ width, inner, heads, epsilon: EPSILON, act: ACT, names: NAMES },
      at: (part) => `vision_model.model.layers.${layer}.${part}`,
      turn: (x) => rotate(g, x, turn, { heads, width: width / heads, interleaved: true }),
    });
  const normed = layerNorm(g, x, 'vision_model.layernorm_post', size);
  return g.node('Slice', [normed, g.ints([0]), g.ints([-1]), g.ints([1])]);
}

/** Neighbours as one, through two layers: float32 [rows, features, width of what comes out]. */
function adapted(g: GraphWriter, x: Value, c: Vision): Value {
  const factor = Math.round(1 / c.pixel_shuffle_ratio);
  const [side, from] = [sideOf(c), c.hidden_size * factor ** 2];
  if (factor * c.pixel_shuffle_ratio !== 1 || side % factor !== 0 || from !== c.intermediate_size)
    throw new GraphError('config.json: pixel_shuffle_ratio does not fit the sizes of vision_config');
  const joined = joinedNeighbours(g, x, { grid: g.ints([side, side]), factor, width: c.hidden_size });
  const layer = (read: Value, name: string, size: { from: number; to: number }) =>
    activation(g, linear(g, read, `vision_model.vision_adapter.mlp.${name}`, { ...size, bias: false }), ACT);
  const [inner, to] = [c.projector_input_dim, c.projector_output_dim];
  if (inner !== to) throw new GraphError('config.json: projector_input_dim is not projector_output_dim');
  return layer(layer(joined, 'fc1', { from, to: inner }), 'fc2', { from: to, to });
}

function writeEncoder(g: GraphWriter, { vision_config: c, text_config: text }: Config): void {
  const found = adapted(g, statesOf(g, c), c);
  const size = { from: c.vision_output_dim, to: text.width, bias: false };
  const features = linear(g, found, 'multi_modal_projector.linear_1', size);
  g.output('image_features', features, 'float32', ['rows', 'features', text.width]);
}

/** Llama 4 that reads tiles of images. modeling_llama4.py */
export const llama4Media = defineFamily({
  modelTypes: ['llama4'],
  readers: { prompts: { image: 'llama4' } },
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: { ...PARTS, 'vision_model.': ['vision_model.'] },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});
