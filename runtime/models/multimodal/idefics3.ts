import * as z from 'zod';
import { defineFamily } from '../family.js';
import type { Decoder } from '../bases/decoder/decoder.js';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { embedding, linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { type Patches, patches } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { epsilon, size } from '../config-fields.js';
import { imageTower, towerLayers, towerSizes } from '../bases/vision/clip-towers.js';
import { languageModel } from './language-model.js';

export const visionConfig = z.object({
  ...imageTower,
  hidden_size: size.default(1152),
  intermediate_size: size.default(3072),
  num_attention_heads: size.default(16),
  hidden_act: z.string().default('gelu_pytorch_tanh'),
  layer_norm_eps: epsilon.default(1e-6),
  image_size: imageTower.image_size.default(224),
  patch_size: imageTower.patch_size.default(32),
});
type VisionConfig = z.output<typeof visionConfig>;

const config = z.object({
  text_config: languageModel('llama'),
  vision_config: visionConfig.prefault({}),
  scale_factor: z.int().min(1).max(64).default(2),
});
type Config = z.output<typeof config>;

/** Keeps the last place of a line below 1. */
const SHARE = 1 - 1e-6;

/** int64 [count]: lines of the table of positions, for so many patches (int64 scalar) along an edge. */
function positionsAlong(g: GraphWriter, count: Value, side: number): Value {
  const range = g.node('Range', [g.ints([0], []), count, g.ints([1], [])]);
  const float = (x: Value) => g.node('Cast', [x], { to: ELEMENTS.float32 });
  const shares = g.node('Mul', [g.node('Div', [float(range), float(count)]), g.scalar(SHARE)]);
  const borders = g.floats(Array.from({ length: side - 1 }, (_, i) => (i + 1) / side));
  const isBehind = g.node('GreaterOrEqual', [g.node('Unsqueeze', [shares, g.ints([1])]), borders]);
  const whole = g.node('Cast', [isBehind], { to: ELEMENTS.int64 });
  return g.node('ReduceSum', [whole, g.ints([1])], { keepdims: 0 });
}

/** Vectors of the positions of patches: float32 [patches, width]. */
function positionsOf(g: GraphWriter, grid: Value, c: VisionConfig): Value {
  const side = Math.floor(c.image_size / c.patch_size);
  const [rows, columns] = [0, 1].map((axis) =>
    positionsAlong(g, g.node('Gather', [grid, g.ints([axis], [])]), side),
  ) as [Value, Value];
  const down = g.node('Unsqueeze', [g.node('Mul', [rows, g.ints([side], [])]), g.ints([1])]);
  const lines = g.node('Reshape', [g.node('Add', [down, columns]), g.ints([-1])]);
  const table = 'vision_model.embeddings.position_embedding';
  return embedding(g, lines, table, { rows: side * side, width: c.hidden_size });
}

/** What the encoder gives for patches, by their positions in images of any size: float32 [rows, patches, width]. */
export function seenPatches(g: GraphWriter, { tokens, grid }: Patches, c: VisionConfig): Value {
  const embedded = g.node('Add', [tokens, positionsOf(g, grid, c)]);
  const layers = towerLayers(g, embedded, c, { base: 'vision_model' });
  return layerNorm(g, layers, 'vision_model.post_layernorm', towerSizes(c));
}

/** Patches of images: float32 [rows, channels, height, width]. */
export const cutImages = (g: GraphWriter, pixels: Value, c: VisionConfig): Patches =>
  patches(g, pixels, 'vision_model.embeddings.patch_embedding', {
    ...{ channels: c.num_channels, width: c.hidden_size, patch: [c.patch_size, c.patch_size] },
  });

/** Squares of images, all of them filled: [images, squares, channels, height, width]. */
function squarePatches(g: GraphWriter, c: VisionConfig): Patches {
  const axes = ['pictures', 'squares', c.num_channels, 'height', 'width'];
  const given = g.input('pixel_values', 'float32', axes);
  const edges = g.node('Shape', [given], { start: 2 });
  const squares = g.node('Reshape', [given, g.node('Concat', [g.ints([-1]), edges], { axis: 0 })]);
  return cutImages(g, squares, c);
}

/** Neighbours side by side as one: float32 [rows, patches / factor², width · factor²]. @param grid int64 [2] */
export function joinedNeighbours(
  g: GraphWriter,
  x: Value,
  { grid, factor, width }: { grid: Value; factor: number; width: number },
): Value {
  const [down, across] = g.nodes('Split', [g.node('Div', [grid, g.ints([factor], [])]), g.ints([1, 1])], {
    ...{ outputs: 2, attributes: { axis: 0 } },
  }) as [Value, Value];
  const shape = [g.ints([-1]), down, g.ints([factor]), across, g.ints([factor * width])];
  const parted = g.node('Reshape', [x, g.node('Concat', shape, { axis: 0 })]);
  const together = g.node('Transpose', [parted], { perm: [0, 1, 3, 2, 4] });
  const count = g.node('Mul', [down, across]);
  const wide = g.ints([factor * factor * width]);
  return g.node('Reshape', [together, g.node('Concat', [g.ints([-1]), count, wide], { axis: 0 })]);
}

function writeEncoder(g: GraphWriter, c: Config): void {
  const { vision_config: vision, scale_factor: factor, text_config: text } = c;
  const found = squarePatches(g, vision);
  const width = vision.hidden_size;
  const joined = joinedNeighbours(g, seenPatches(g, found, vision), { grid: found.grid, factor, width });
  const size = { from: width * factor * factor, to: text.width, bias: false };
  const features = linear(g, joined, 'connector.modality_projection.proj', size);
  g.output('image_features', features, 'float32', ['all squares', 'features', text.width]);
}

/** Names of the parts. */
export const CONNECTED = {
  'model.': ['model.text_model.', 'text_model.'],
  'vision_model.': ['model.vision_model.', 'vision_model.'],
  'connector.': ['model.connector.', 'connector.'],
};

/** A language model that reads squares of images, four patches joined to a feature. modeling_idefics3.py, modeling_smolvlm.py */
export const idefics3 = defineFamily({
  modelTypes: ['idefics3', 'smolvlm'],
  readers: ({ model_type: type }) => ({
    prompts: type === 'smolvlm' ? { image: 'smolvlm', video: 'smolvlm' } : { image: 'idefics3' },
  }),
  limits: ['SmolVLM reads images or videos in one conversation, not both, as in Python.'],
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: CONNECTED,
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c): Decoder => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});
