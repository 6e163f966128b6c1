import * as z from 'zod';
import { type Family, defineFamily } from '../family.js';
import { convolution2d } from '../layers/convolution.js';
import { enlarged, neckImages } from '../layers/depth-neck.js';
import { imageOf, tokensFrom } from '../layers/patch-embed.js';
import { size } from '../config-fields.js';
import { headInput, neckConfig, requireStates } from '../bases/vision/depth-config.js';
import { dinov2Backbone, dinov2BackboneConfig } from './dinov2/backbone.js';

const config = z.object({
  ...neckConfig,
  backbone_config: dinov2BackboneConfig,
  patch_size: z.int().min(1).max(1024).default(14),
  neck_hidden_sizes: neckConfig.neck_hidden_sizes.default([48, 96, 192, 384]),
  fusion_hidden_size: size.default(64),
  head_hidden_size: size.default(32),
  depth_estimation_type: z.enum(['relative', 'metric']).default('relative'),
  max_depth: z.number().nullish(),
});
type Config = z.output<typeof config>;

const heads: Family<Config>['heads'] = {
  'depth-estimation': {
    model(g, c) {
      const { states, grid } = dinov2Backbone(g, c.backbone_config);
      requireStates(c, states);
      const images = states.map((x) => imageOf(g, tokensFrom(g, x, 1), grid));
      const fused = neckImages(g, images, {
        ...{ width: c.backbone_config.hidden_size, sizes: c.neck_hidden_sizes },
        ...{ factors: c.reassemble_factors, fused: c.fusion_hidden_size },
        ...{ norm: false, bias: true, toNext: true },
      });
      const [from, inner] = [c.fusion_hidden_size, Math.floor(c.fusion_hidden_size / 2)];
      const first = convolution2d(g, headInput(c, fused), 'head.conv1', { from, to: inner, kernel: 3 });
      const pixels = g.node('Mul', [grid, g.ints([c.patch_size], [])]);
      const large = enlarged(g, first, pixels, inner);
      const second = { from: inner, to: c.head_hidden_size, kernel: 3 };
      const wide = g.node('Relu', [convolution2d(g, large, 'head.conv2', second)]);
      const one = convolution2d(g, wide, 'head.conv3', { from: c.head_hidden_size, to: 1, kernel: 1 });
      const depth = g.node(c.depth_estimation_type === 'metric' ? 'Sigmoid' : 'Relu', [one]);
      const scaled = c.max_depth ? g.node('Mul', [depth, g.scalar(c.max_depth)]) : depth;
      const plane = g.node('Squeeze', [scaled, g.ints([1])]);
      g.output('predicted_depth', plane, 'float32', ['rows', 'lines', 'columns']);
    },
  },
};

/** modeling_depth_anything.py */
export const depthAnything = defineFamily({
  modelTypes: ['depth_anything'],
  readers: { processor: 'DPT' },
  usualTask: 'depth-estimation',
  config,
  prefixes: [],
  heads,
});
