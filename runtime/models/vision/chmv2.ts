import * as z from 'zod';
import { type Family, defineFamily } from '../family.js';
import { convolution2d } from '../layers/convolution.js';
import { enlarged, neckImages, twice } from '../layers/depth-neck.js';
import { imageInput, imageOf, tokensFrom } from '../layers/patch-embed.js';
import { layerNorm } from '../layers/norm.js';
import { readout } from '../layers/readout.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import { named } from '../inert-fields.js';
import { neckConfig, requireStates } from '../bases/vision/depth-config.js';
import { stageFields, stagesOf } from './backbone/stages.js';
import { dinov3Encoder, dinov3Fields } from './dinov3.js';
import { binnedDepth } from './depth-bins.js';

const backbone = z.object({
  ...dinov3Fields,
  ...stageFields,
  model_type: z.literal('dinov3_vit'),
  apply_layernorm: z.boolean().default(true),
  reshape_hidden_states: z.literal(true).default(true),
  return_class_token: z.literal(true),
});
type Backbone = z.output<typeof backbone>;

/** What Python takes where none is described. */
const USUAL: z.input<typeof backbone> = {
  model_type: 'dinov3_vit',
  ...{ hidden_size: 1024, intermediate_size: 4096, num_attention_heads: 16, num_hidden_layers: 24 },
  ...{ num_register_tokens: 4, key_bias: true, layer_norm_eps: 1e-6, out_indices: [6, 12, 18, 24] },
  return_class_token: true,
};

const strategies = ['linear', 'log', 'chmv2_mixlog'] as const;
const config = z
  .object({
    backbone_config: z.preprocess((given) => given ?? USUAL, backbone).default(() => backbone.parse(USUAL)),
    reassemble_factors: neckConfig.reassemble_factors,
    post_process_channels: neckConfig.neck_hidden_sizes.default([128, 256, 512, 1024]),
    fusion_hidden_size: size.default(256),
    head_hidden_size: size.default(128),
    number_output_channels: z
      .int()
      .min(1)
      .max(2 ** 16)
      .default(256),
    readout_type: z.enum(['ignore', 'add', 'project']).default('project'),
    min_depth: z.number().min(0).max(1e6).default(0.001),
    max_depth: z.number().min(0).max(1e6).default(96),
    bins_strategy: z.enum(strategies).default('chmv2_mixlog'),
    norm_strategy: z.enum(['linear', 'softmax', 'sigmoid', 'chmv2_mixlog']).default('chmv2_mixlog'),
  })
  .refine((c) => c.bins_strategy === 'linear' || (c.min_depth > 0 && c.max_depth > 0), {
    ...{ message: 'has no logarithm', path: ['min_depth'] },
  });
type Config = z.output<typeof config>;

interface Seen {
  /** float32 [rows, 1 + registers + patches, width] of each layer that is read. */
  states: Value[];
  /** int64 [2] */
  grid: Value;
}

function backboneStates(g: GraphWriter, c: Backbone): Seen {
  const count = c.num_hidden_layers;
  const wanted = new Set(stagesOf(c, count));
  const pixels = imageInput(g, c.num_channels);
  const encoder = dinov3Encoder(g, c, { pixels, layers: 'backbone.layer', base: 'backbone.' });
  const states: Value[] = [];
  const keep = (x: Value, stage: number) => {
    if (!wanted.has(stage)) return;
    const isNormed = c.apply_layernorm || stage === count;
    const sizes = { width: c.hidden_size, epsilon: c.layer_norm_eps };
    states.push(isNormed ? layerNorm(g, x, 'backbone.norm', sizes) : x);
  };
  let x = encoder.tokens;
  keep(x, 0);
  for (let index = 0; index < count; index++) {
    x = encoder.layer(x, { index });
    keep(x, index + 1);
  }
  return { states, grid: encoder.grid };
}

/** float32 [rows, fusion_hidden_size, lines, columns] */
function fusedImage(g: GraphWriter, c: Config): Value {
  const { num_register_tokens: registers, hidden_size: width } = c.backbone_config;
  const { states, grid } = backboneStates(g, c.backbone_config);
  const { reassemble_factors: factors, post_process_channels: sizes } = c;
  requireStates({ reassemble_factors: factors, neck_hidden_sizes: sizes }, states);
  const images = states.map((x, i) => {
    const [first, others] = [tokensFrom(g, x, 0, 1), tokensFrom(g, x, 1 + registers)];
    const name = `head.reassemble_stage.readout_projects.${i}.0`;
    const read = readout(g, { first, others }, name, { kind: c.readout_type, width, act: 'gelu' });
    return imageOf(g, read, grid);
  });
  return neckImages(g, images, {
    ...{ width, sizes, factors, fused: c.fusion_hidden_size, norm: false, bias: true, toNext: false },
    names: {
      reassembled: 'head.reassemble_stage.layers',
      ...{ convs: 'head.convs', fusion: 'head.fusion_layers' },
    },
  }).at(-1)!;
}

const heads: Family<Config>['heads'] = {
  'depth-estimation': {
    model(g, c) {
      const [from, inner, bins] = [c.fusion_hidden_size, c.head_hidden_size, c.number_output_channels];
      const half = Math.floor(from / 2);
      const at = (layer: number) => `head.conv_depth.head.${layer}`;
      const first = convolution2d(g, fusedImage(g, c), at(0), { from, to: half, kernel: 3 });
      const large = enlarged(g, first, twice(g, first), half);
      const wide = g.node('Relu', [convolution2d(g, large, at(2), { from: half, to: inner, kernel: 3 })]);
      const scores = convolution2d(g, wide, at(4), { from: inner, to: bins, kernel: 1 });
      const depth = binnedDepth(g, scores, {
        ...{ count: bins, min: c.min_depth, max: c.max_depth, spread: c.bins_strategy },
        norm: c.norm_strategy,
      });
      const plane = g.node('Squeeze', [depth, g.ints([1])]);
      g.output('predicted_depth', plane, 'float32', ['rows', 'lines', 'columns']);
    },
  },
};

/** modeling_chmv2.py: heights of trees, by a DPT over DINOv3. */
export const chmv2 = defineFamily({
  modelTypes: ['chmv2'],
  readers: { processor: 'CHMv2' },
  usualTask: 'depth-estimation',
  inert: [{ fields: named('patch_size'), reason: 'that of the backbone cuts images' }],
  config,
  prefixes: [],
  heads,
});
