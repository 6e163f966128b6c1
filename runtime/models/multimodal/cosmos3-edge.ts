import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { twoLayers } from '../bases/decoder/layer-norms.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaDecoder } from '../bases/decoder/llama-decoder.js';
import { towerLayers, towerSizes } from '../bases/vision/clip-towers.js';
import { epsilon, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { named } from '../inert-fields.js';
import { linear, matMulTransposed } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { rotaryConfig } from '../layers/rope-frequencies.js';
import { shares, siglip2Images } from '../vision/siglip2.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { layerEndings } from '../writer/weights.js';
import { cellGrid, type CellGrid, inCells, linesAndColumns } from './patch-cells.js';
import { AXES, QWEN_PARTS } from './qwen2-vl/family.js';
import { small } from './qwen2-vl/vision.js';
import { interleavedAxes } from './qwen3-vl/interleaved-axes.js';

/** Pairs of time, height and width where the file does not say. */
const SECTIONS = [24, 20, 20];

const textConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 131_072, width: 2048, inner: 9216, layers: 28, heads: 16 }),
  ...{ num_key_value_heads: size.nullable().default(8), head_dim: size.default(128) },
  max_position_embeddings: rotaryConfig.max_position_embeddings.default(131_072),
  rope_theta: z.number().positive().default(1e8),
  hidden_act: z.string().default('relu2'),
  rms_norm_eps: epsilon.default(1e-5),
  mlp_bias: z.boolean().default(false),
  pad_token_id: z.int().nullable().default(0),
  rope_scaling: rotaryConfig.rope_scaling.default({ rope_type: 'default', mrope_section: SECTIONS }),
  // Its head has a table of its own, whatever the file says.
  tie_word_embeddings: z
    .unknown()
    .optional()
    .transform(() => false),
});
type TextConfig = z.output<typeof textConfig>;

const { vision_use_head: _, ...tower } = siglip2Images.shape;

const images = z.object({
  ...tower,
  ...{ hidden_size: size.default(1152), intermediate_size: size.default(4304) },
  num_hidden_layers: tower.num_hidden_layers.default(27),
  num_attention_heads: size.default(16),
  spatial_merge_size: small.default(2),
});
type Images = z.output<typeof images>;

const config = z.object({
  text_config: textConfig.prefault({}),
  vision_config: images.prefault({}),
  projector_hidden_size: size.default(11_520),
});
type Config = z.output<typeof config>;

/** @throws GraphError for other positions than the usual ones, with which Python fails */
function decoderOf(c: TextConfig) {
  const { rope_scaling: scaling, head_dim: width } = c;
  const type = scaling?.['rope_type'] ?? scaling?.['type'] ?? 'default';
  if (type !== 'default') throw new GraphError(`config.json: rope_type ${String(type)} is not known here`);
  const sections = (scaling?.['mrope_section'] ?? SECTIONS) as readonly number[];
  const axes = interleavedAxes(scaling ?? undefined, width / 2, SECTIONS);
  if (sections.reduce((a, b) => a + b, 0) !== width / 2)
    throw new GraphError('config.json: mrope_section does not part the frequencies of a head');
  const rotary = { ...c, axes };
  return llamaDecoder({
    ...llamaSizes(c),
    rotary: () => rotary,
    feedForward: twoLayers(c, { names: ['fc1', 'fc2'], bias: c.mlp_bias }),
  });
}

const BASE = 'visual';
/** Of the projector's norm. */
const EPSILON = 1e-6;

/** `image_features` [features, width] of the patches of one image; inputs are as Qwen2-VL's. */
function writeEncoder(g: GraphWriter, { vision_config: c, text_config: text, ...config }: Config): void {
  const { hidden_size: width, spatial_merge_size: merge } = c;
  const grid = cellGrid(g, g.input('image_grid_thw', 'int64', [1, 3]), { merge, width });
  const tokens = inCells(g, embedded(g, c), grid, width);
  const x = towerLayers(g, g.node('Add', [tokens, positionsOf(g, grid, c)]), c, { base: BASE });
  const seen = layerNorm(g, x, `${BASE}.post_layernorm`, towerSizes(c));
  const from = width * merge * merge;
  const normed = layerNorm(g, seen, 'projector.norm', { width, epsilon: EPSILON });
  const cells = g.node('Reshape', [normed, g.ints([-1, from])]);
  const inner = config.projector_hidden_size;
  const wide = g.node('Gelu', [linear(g, cells, 'projector.linear_fc1', { from, to: inner })]);
  const features = linear(g, wide, 'projector.linear_fc2', { from: inner, to: text.hidden_size });
  g.output('image_features', features, 'float32', ['features', text.hidden_size]);
}

/** float32 [patches, width]. The file's matrix has the channels of a pixel side by side, `pixel_values` has them apart. */
function embedded(
  g: GraphWriter,
  { hidden_size: width, num_channels: channels, patch_size: edge }: Images,
): Value {
  const numbers = channels * edge * edge;
  const at = (name: string) => `${BASE}.embeddings.patch_embedding.${name}`;
  const pixels = g.input('pixel_values', 'float32', ['patches', numbers]);
  const stored = g.node('Reshape', [
    g.weight(at('weight'), [width, numbers]),
    g.ints([width, edge, edge, channels]),
  ]);
  const apart = g.node('Transpose', [stored], { perm: [0, 3, 1, 2] });
  const found = matMulTransposed(g, pixels, g.node('Reshape', [apart, g.ints([width, numbers])]));
  return g.node('Add', [found, g.weight(at('bias'), [width])]);
}

/**
 * Vectors of the positions of an image's patches, cell by cell, from a square table that is resized to its grid: float32 [1, patches, width].
 * @throws GraphError for a table that is no square
 */
function positionsOf(g: GraphWriter, { cells, merge }: CellGrid, c: Images): Value {
  const side = Math.floor(Math.sqrt(c.num_patches));
  if (side * side !== c.num_patches)
    throw new GraphError(`config.json: num_patches ${c.num_patches} make no square`);
  const places = linesAndColumns(g, { frames: g.ints([1]), cells, merge });
  const counts = g.node('Cast', [g.node('Mul', [cells, g.ints([merge], [])])], { to: ELEMENTS.float32 });
  const [down, across] = [0, 1].map((axis) => {
    const index = g.node('Gather', [places, g.ints([axis], [])], { axis: 1 });
    const count = g.node('Gather', [counts, g.ints([axis], [])]);
    const row = g.node('Unsqueeze', [index, g.ints([0])]);
    return shares(g, row, g.node('Reshape', [count, g.ints([1, 1])]), side);
  }) as [Value, Value];
  const both = g.node('Mul', [
    g.node('Unsqueeze', [down, g.ints([3])]),
    g.node('Unsqueeze', [across, g.ints([2])]),
  ]);
  const flat = g.node('Reshape', [both, g.ints([0, 0, side * side])]);
  const table = g.weight(`${BASE}.embeddings.position_embedding.weight`, [side * side, c.hidden_size]);
  return g.node('MatMul', [flat, table]);
}

/** Of the parts of a layer, as its makers have them. */
const NAMES = layerEndings({
  ...{ '.self_attn.q_proj': '.self_attn.to_q', '.self_attn.k_proj': '.self_attn.to_k' },
  ...{ '.self_attn.v_proj': '.self_attn.to_v', '.self_attn.o_proj': '.self_attn.to_out' },
  ...{ '.mlp.fc1': '.mlp.up_proj', '.mlp.fc2': '.mlp.down_proj' },
});

/** A language model of two layers that reads images through SigLIP 2, in blocks of patches. modeling_cosmos3_edge.py */
export const cosmos3Edge = defineFamily({
  modelTypes: ['cosmos3_edge'],
  readers: { prompts: { image: 'cosmos3-edge' } },
  limits: ['Cosmos 3 answers about images; videos are refused, and what it draws and moves is not served.'],
  inert: [{ fields: named('tie_word_embeddings'), reason: 'Python never shares its table' }],
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  config,
  ...{ prefixes: [], older: NAMES },
  parts: {
    'model.': [...QWEN_PARTS['model.'], ''],
    ...{ 'visual.': QWEN_PARTS['visual.'], 'projector.': ['model.projector.', 'projector.'] },
  },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => decoderOf(c.text_config), { axes: AXES }),
      vision_encoder: writeEncoder,
    },
  },
});
