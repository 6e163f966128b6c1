import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { convolution2d } from '../layers/convolution.js';
import { linear } from '../layers/linear.js';
import { resize, tokensOf } from '../layers/patch-embed.js';
import { imageFields, mlpFields, withGrid } from '../vision/sam/config.js';
import { samNeck, type SamImages, samStates } from '../vision/sam/image-encoder.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { deepseekVl, deepseekVlConfig } from './deepseek-vl.js';

const config = z.object({
  ...deepseekVlConfig,
  high_res_vision_config: imageFields.extend(mlpFields).transform(withGrid).prefault({}),
});
type Config = z.output<typeof config>;

/** In the grid of the small encoder: float32 [rows, 4 · width, side, side]. */
function halvedTwice(g: GraphWriter, x: Value, c: SamImages, side: number): Value {
  const width = c.output_channels;
  const rows = g.node('Shape', [x], { start: 0, end: 1 });
  const sizes = g.node('Concat', [rows, g.ints([width, 4 * side, 4 * side])], { axis: 0 });
  const halved = (read: Value, name: string, from: number) =>
    convolution2d(g, read, `high_res_vision_proj.${name}`, {
      ...{ from, to: 2 * from, kernel: 3, stride: 2, padding: 1, bias: false },
    });
  return halved(halved(resize(g, x, sizes, { mode: 'linear' }), 'conv1', width), 'conv2', 2 * width);
}

/** What SAM's encoder gives, and what its first layer does that sees the whole image: float32 [rows, side · side, 4 · width]. */
function seenLarge(g: GraphWriter, c: SamImages, side: number): Value {
  const [first] = c.global_attn_indexes;
  if (first === undefined || first < 0 || first >= c.num_hidden_layers - 1)
    throw new GraphError(
      'config.json: the first of global_attn_indexes of high_res_vision_config is no layer before the last one',
    );
  const pixels = g.input('high_res_pixel_values', 'float32', [
    ...['rows', c.num_channels, c.image_size, c.image_size],
  ]);
  const states = samStates(g, c, pixels);
  const last = samNeck(g, states.at(-1)!, c, 'vision_encoder.neck');
  const whole = samNeck(g, states[first + 1]!, c, 'high_res_vision_neck');
  const scaled = g.node('Mul', [halvedTwice(g, whole, c, side), g.weight('high_res_vision_alpha', [1])]);
  return tokensOf(g, g.node('Add', [halvedTwice(g, last, c, side), scaled]));
}

function writeEncoder(g: GraphWriter, c: Config): void {
  const { vision_config: tower, text_config: text, high_res_vision_config: large } = c;
  if (text.width % 2 !== 0) throw new GraphError('config.json: hidden_size of text_config is odd');
  const half = text.width / 2;
  const seen = tower.finish(g, tower.states(g, tower.layers).at(-1)!);
  const parts = [
    linear(g, seenLarge(g, large, tower.side), 'aligner.high_res_vision_proj', {
      ...{ from: 4 * large.output_channels, to: half },
    }),
    linear(g, seen, 'aligner.vision_proj', { from: tower.width, to: half }),
  ];
  const active = activation(g, g.node('Concat', parts, { axis: 2 }), 'gelu');
  const features = linear(g, active, 'aligner.proj', { from: text.width, to: text.width });
  g.output('image_features', features, 'float32', ['rows', 'features', text.width]);
}

const part = (name: string) => ({ [`${name}.`]: [`model.${name}.`, `${name}.`] });

/** DeepSeek-VL that sees a large square through SAM's encoder, too. modeling_deepseek_vl_hybrid.py */
export const deepseekVlHybrid = defineFamily({
  modelTypes: ['deepseek_vl_hybrid'],
  readers: { prompts: { image: 'deepseek-vl-hybrid' } },
  memory: {
    patches: ({ high_res_vision_config: c }: Config) => c.edge ** 2,
    visionInner: ({ high_res_vision_config: c }: Config) => c.inner,
  },
  usualTask: 'image-text-to-text',
  limits: [
    'Edges of images are cut to whole pixels and bars have the colour of `image_mean`, as in transformers 4.57; 5 rounds, and has another colour.',
  ],
  config,
  prefixes: [],
  parts: {
    ...deepseekVl.parts,
    ...{ ...part('high_res_vision_neck'), ...part('high_res_vision_proj') },
    high_res_vision_alpha: ['model.high_res_vision_alpha', 'high_res_vision_alpha'],
    'vision_encoder.': [
      'model.high_res_vision_model.vision_encoder.',
      'high_res_vision_model.vision_encoder.',
    ],
  },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});
