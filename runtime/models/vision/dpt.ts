import * as z from 'zod';
import { type Family, defineFamily } from '../family.js';
import { batchNorm, convolution2d } from '../layers/convolution.js';
import { enlarged, neckImages, twice } from '../layers/depth-neck.js';
import { patches, imageInput, imageOf, resizedTable, tokensFrom, withTokens } from '../layers/patch-embed.js';
import { readout } from '../layers/readout.js';
import { preNormLayer } from '../layers/pre-norm-layer.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import { gridSize, vitConfig, vitSizes } from '../bases/vision/vit-config.js';
import { headInput, neckConfig, requireStates } from '../bases/vision/depth-config.js';
import { dinov2Backbone, dinov2BackboneConfig, type LayerStates } from './dinov2/backbone.js';
import { VIT_NAMES } from './vit.js';

const config = z.object({
  ...{ ...vitConfig, ...neckConfig },
  image_size: vitConfig.image_size.unwrap().default([384, 384]),
  is_hybrid: z.literal(false).default(false),
  backbone: z.null('backbones by their names are not known').default(null),
  backbone_config: dinov2BackboneConfig.nullish(),
  backbone_out_indices: z.array(z.int()).nullish(),
  readout_type: z.enum(['ignore', 'add', 'project']).default('project'),
  neck_hidden_sizes: neckConfig.neck_hidden_sizes.default([96, 192, 384, 768]),
  fusion_hidden_size: size.default(256),
  use_batch_norm_in_fusion_residual: z.boolean().nullish(),
  use_bias_in_fusion_residual: z.boolean().nullish(),
  add_projection: z.boolean().default(false),
});
type Config = z.output<typeof config>;

/** A vision transformer, whose positions are resized line by line. */
function vitStates(g: GraphWriter, c: Config): LayerStates {
  const at = (name: string) => `dpt.${name}`;
  const width = c.hidden_size;
  const { tokens, grid } = patches(
    g,
    imageInput(g, c.num_channels),
    at('embeddings.patch_embeddings.projection'),
    { channels: c.num_channels, width, patch: c.patch_size },
  );
  const from = gridSize(c.image_size, c.patch_size);
  const positions = g.weight(at('embeddings.position_embeddings'), [1, from[0] * from[1] + 1, width]);
  const others = resizedTable(g, tokensFrom(g, positions, 1), { from, to: grid, width, mode: 'linear' });
  const all = g.node('Concat', [tokensFrom(g, positions, 0, 1), others], { axis: 1 });
  const first = g.weight(at('embeddings.cls_token'), [1, 1, width]);
  let x = g.node('Add', [withTokens(g, tokens, [first]), all]);
  const wanted = new Set(c.backbone_out_indices ?? [2, 5, 8, 11]);
  const biases = { query: c.qkv_bias, key: c.qkv_bias, value: c.qkv_bias };
  const states: Value[] = [];
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const inLayer = (part: string) => at(`encoder.layer.${i}.${part}`);
    x = preNormLayer(g, x, { ...vitSizes(c), names: VIT_NAMES, at: inLayer, biases });
    if (wanted.has(i)) states.push(x);
  }
  return { states, grid };
}

/** What the head reads: float32 [rows, fusion_hidden_size, lines, columns]. */
function fusedImage(g: GraphWriter, c: Config): Value {
  const { states, grid } = c.backbone_config ? dinov2Backbone(g, c.backbone_config) : vitStates(g, c);
  requireStates(c, states);
  const width = c.backbone_config?.hidden_size ?? c.hidden_size;
  const act = c.hidden_act;
  const images = states.map((x, i) => {
    const tokens = { first: tokensFrom(g, x, 0, 1), others: tokensFrom(g, x, 1) };
    const name = `neck.reassemble_stage.readout_projects.${i}.0`;
    return imageOf(g, readout(g, tokens, name, { kind: c.readout_type, width, act }), grid);
  });
  const norm = c.use_batch_norm_in_fusion_residual === true;
  const fused = neckImages(g, images, {
    ...{ width, sizes: c.neck_hidden_sizes, factors: c.reassemble_factors, fused: c.fusion_hidden_size },
    ...{ norm, bias: c.use_bias_in_fusion_residual ?? !norm, toNext: false },
  });
  return headInput(c, fused);
}

/** Of the layers between the fused image and depths. */
const [PROJECTED, INNER] = [256, 32];

function writeDepth(g: GraphWriter, c: Config): void {
  const from = c.fusion_hidden_size;
  const half = Math.floor(from / 2);
  const fused = fusedImage(g, c);
  const square = { from: PROJECTED, to: PROJECTED, kernel: 3 };
  const read = c.add_projection
    ? g.node('Relu', [convolution2d(g, fused, 'head.projection', square)])
    : fused;
  const first = convolution2d(g, read, 'head.head.0', { from, to: half, kernel: 3 });
  const large = enlarged(g, first, twice(g, first), half);
  const second = g.node('Relu', [
    convolution2d(g, large, 'head.head.2', { from: half, to: INNER, kernel: 3 }),
  ]);
  const depth = g.node('Relu', [convolution2d(g, second, 'head.head.4', { from: INNER, to: 1, kernel: 1 })]);
  const plane = g.node('Squeeze', [depth, g.ints([1])]);
  g.output('predicted_depth', plane, 'float32', ['rows', 'lines', 'columns']);
}

function writeClasses(g: GraphWriter, c: Config): void {
  const width = c.fusion_hidden_size;
  const { labels } = vitSizes(c);
  const size = { from: width, to: width, kernel: 3, bias: false };
  const first = convolution2d(g, fusedImage(g, c), 'head.head.0', size);
  const even = g.node('Relu', [batchNorm(g, first, 'head.head.1', { width })]);
  const scores = convolution2d(g, even, 'head.head.4', { from: width, to: labels, kernel: 1 });
  const large = enlarged(g, scores, twice(g, scores), labels);
  g.output('logits', large, 'float32', ['rows', labels, 'lines', 'columns']);
}

const heads: Family<Config>['heads'] = {
  'depth-estimation': { model: writeDepth },
  'image-segmentation': { model: writeClasses },
};

/** modeling_dpt.py */
export const dpt = defineFamily({
  modelTypes: ['dpt'],
  readers: { processor: 'DPT' },
  usualTask: 'depth-estimation',
  config,
  prefixes: ['dpt.'],
  heads,
});
