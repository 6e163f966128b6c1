import * as z from 'zod';
import { type Family, defineFamily } from '../family.js';
import { convnextLayer } from '../layers/convnext-layer.js';
import { convolution2d } from '../layers/convolution.js';
import { channelNorm, layerNorm } from '../layers/norm.js';
import { imageInput, tokensOf } from '../layers/patch-embed.js';
import { firstToken } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon } from '../config-fields.js';
import { channels, stages } from '../bases/vision/vit-config.js';

const config = z.object({
  num_channels: channels,
  hidden_sizes: stages.nullish().transform((given) => given ?? [96, 192, 384, 768]),
  depths: stages.nullish().transform((given) => given ?? [3, 3, 9, 3]),
  hidden_act: z.string().default('gelu'),
  layer_norm_eps: epsilon.default(1e-6),
});
type Config = z.output<typeof config>;

const KERNEL = 7;

/** Halves an image, the first time quarters it. */
function narrowed(g: GraphWriter, x: Value, c: Config, stage: number): Value {
  const at = (part: number) => `stages.${stage}.downsample_layers.${part}`;
  const to = c.hidden_sizes[stage]!;
  const from = c.hidden_sizes[stage - 1];
  const cut = { to, padding: 0 };
  if (from !== undefined) {
    const even = channelNorm(g, x, at(0), { width: from, epsilon: c.layer_norm_eps });
    return convolution2d(g, even, at(1), { ...cut, from, kernel: 2, stride: 2 });
  }
  const found = convolution2d(g, x, at(0), { ...cut, from: c.num_channels, kernel: 4, stride: 4 });
  return channelNorm(g, found, at(1), { width: to, epsilon: c.layer_norm_eps });
}

function imageOf(g: GraphWriter, c: Config): Value {
  let x = imageInput(g, c.num_channels);
  c.hidden_sizes.forEach((width, stage) => {
    x = narrowed(g, x, c, stage);
    for (let i = 0; i < (c.depths[stage] ?? 0); i++) {
      const at = (name: string) => `stages.${stage}.layers.${i}.${name}`;
      const names = {
        ...{ depthwise: at('depthwise_conv'), norm: at('layer_norm'), scale: at('gamma') },
        ...{ wide: at('pointwise_conv1'), narrow: at('pointwise_conv2') },
      };
      const size = { width, inner: 4 * width, kernel: KERNEL, act: c.hidden_act };
      x = convnextLayer(g, x, { ...size, names, epsilon: c.layer_norm_eps });
    }
  });
  return x;
}

const heads: Family<Config>['heads'] = {
  'image-features': {
    model(g, c) {
      const width = c.hidden_sizes.at(-1)!;
      const image = imageOf(g, c);
      // The mean of all positions stands before them, as a token that is pooled.
      const mean = tokensOf(g, g.node('GlobalAveragePool', [image]));
      const all = g.node('Concat', [mean, tokensOf(g, image)], { axis: 1 });
      const states = layerNorm(g, all, 'layer_norm', { width, epsilon: c.layer_norm_eps });
      g.output('last_hidden_state', states, 'float32', ['rows', 'tokens', width]);
      g.output('pooler_output', firstToken(g, states), 'float32', ['rows', width]);
    },
  },
};

/** modeling_dinov3_convnext.py */
export const dinov3Convnext = defineFamily({
  ...{ modelTypes: ['dinov3_convnext'], config, prefixes: ['dinov3_convnext.'], heads },
});
