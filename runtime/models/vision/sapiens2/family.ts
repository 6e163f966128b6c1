import { float } from '../../writer/attributes.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { labelCount } from '../../config-fields.js';
import { defineFamily, type Family } from '../../family.js';
import { named } from '../../inert-fields.js';
import { activation } from '../../layers/activation.js';
import { convolution2d } from '../../layers/convolution.js';
import { imageOf, tokensFrom } from '../../layers/patch-embed.js';
import { firstToken } from '../../bases/encoder/encoder-heads.js';
import { sapiens2Config, type Sapiens2Config, type Sapiens2Head } from './config.js';
import { sapiens2States } from './encoder.js';

const EPSILON = 1e-5;

/** Each channel of each image normed over its positions, without weights, and SiLU. */
function normed(g: GraphWriter, x: Value, width: number): Value {
  const [ones, zeros] = [1, 0].map((value) => g.floats(new Float32Array(width).fill(value))) as [
    Value,
    Value,
  ];
  const even = g.node('InstanceNormalization', [x, ones, zeros], { epsilon: float(EPSILON) });
  return activation(g, even, 'silu');
}

/** Names of sequences of three layers each in checkpoints, of which transformers knows so many. */
const [UPSAMPLED, CONVOLVED] = [4, 2];

const weightName = (list: 'upsample' | 'conv', layer: number): string => {
  const [known, old] = list === 'upsample' ? [UPSAMPLED, 'deconv'] : [CONVOLVED, 'conv'];
  return layer < known
    ? `decode_head.${old}_layers.${3 * layer}`
    : `decode_head.${list}_layers.${layer}.convolution`;
};

interface Step {
  layer: number;
  from: number;
  to: number;
  kernel: number;
}

/** An image of twice the edges, by a transposed convolution without bias. */
function enlarged(g: GraphWriter, x: Value, { layer, from, to, kernel }: Step): Value {
  const weight = g.weight(`${weightName('upsample', layer)}.weight`, [from, to, kernel, kernel]);
  const attributes = { kernel_shape: [kernel, kernel], strides: [2, 2], pads: [1, 1, 1, 1] };
  return normed(g, g.node('ConvTranspose', [x, weight], attributes), to);
}

/** The same by channels that become pixels. */
function shuffled(g: GraphWriter, x: Value, { layer, from, to, kernel }: Step): Value {
  const inputs = [
    x,
    g.weight(`${weightName('upsample', layer)}.weight`, [4 * to, from, kernel, kernel]),
    g.weight(`decode_head.upsample_layers.${layer}.convolution.bias`, [4 * to]),
  ];
  const padding = Math.floor((kernel - 1) / 2);
  const pads = [padding, padding, padding, padding];
  const found = g.node('Conv', inputs, { kernel_shape: [kernel, kernel], pads });
  return normed(g, g.node('DepthToSpace', [found], { blocksize: 2, mode: 'CRD' }), to);
}

function stepsOf(from: number, widths: readonly number[], kernels: readonly number[]): Step[] {
  if (kernels.length < widths.length)
    throw new GraphError('config.json: head_config has fewer kernel sizes than layers');
  return widths.map((to, layer) => ({
    ...{ layer, to, kernel: kernels[layer]! },
    from: layer === 0 ? from : widths[layer - 1]!,
  }));
}

/** @param x float32 [rows, hidden_size, lines, columns] of patches */
function classesOf(g: GraphWriter, x: Value, head: Sapiens2Head, c: Sapiens2Config): Value {
  const { upsample_out_channels: up, conv_out_channels: refined } = head;
  const shuffles = head.use_pixel_shuffle === true;
  const width = c.hidden_size;
  const input = { from: width, to: width, kernel: 3 };
  let found = shuffles
    ? normed(g, convolution2d(g, x, 'decode_head.input_conv.convolution', input), width)
    : x;
  const enlarging = stepsOf(width, up, head.upsample_kernel_sizes ?? up.map(() => head.upsample_kernel_size));
  for (const step of enlarging) found = shuffles ? shuffled(g, found, step) : enlarged(g, found, step);
  const kernels = head.conv_kernel_sizes ?? refined.map(() => head.conv_kernel_size);
  for (const { layer, ...step } of stepsOf(up.at(-1)!, refined, kernels)) {
    const padding = shuffles ? Math.floor((step.kernel - 1) / 2) : 0;
    found = normed(g, convolution2d(g, found, weightName('conv', layer), { ...step, padding }), step.to);
  }
  const from = refined.at(-1) ?? up.at(-1)!;
  return convolution2d(g, found, 'decode_head.conv_seg', { from, to: labelCount(c), kernel: 1 });
}

const heads: Family<Sapiens2Config>['heads'] = {
  'image-segmentation': {
    model(g, c) {
      if (!c.head_config) throw new GraphError('config.json: head_config is missing');
      const { states, grid } = sapiens2States(g, c);
      const image = imageOf(g, tokensFrom(g, states, 1 + c.num_register_tokens), grid);
      const logits = classesOf(g, image, c.head_config, c);
      g.output('logits', logits, 'float32', ['rows', labelCount(c), 'lines', 'columns']);
    },
  },
  'image-features': {
    model(g, c) {
      const { states } = sapiens2States(g, c);
      g.output('last_hidden_state', states, 'float32', ['rows', 'tokens', c.hidden_size]);
      g.output('pooler_output', firstToken(g, states), 'float32', ['rows', c.hidden_size]);
    },
  },
};

/** modeling_sapiens2.py: images of people. */
export const sapiens2 = defineFamily({
  modelTypes: ['sapiens2'],
  inert: [
    {
      fields: named('pos_embed_(?:shift|jitter|rescale)'),
      reason: 'augmentation of positions, in training alone',
    },
    {
      fields: named('image_size', 'flip_pairs', 'use_mask_token', 'semantic_loss_ignore_index'),
      reason: 'of training, poses or points, which are not served; images are read in any size',
    },
    {
      fields: named('out_(?:features|indices)', 'reshape_hidden_states', 'normalize_backbone_outputs'),
      reason: 'of a backbone within another network',
    },
    { part: 'head_config', fields: /^scale_/, reason: 'of points, which are not served' },
  ],
  readers: { processor: 'Sapiens2' },
  config: sapiens2Config,
  prefixes: ['backbone.'],
  heads,
});
