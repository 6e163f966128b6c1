import * as z from 'zod';
import { roundHalfEven } from '../../core/round-half-even.js';
import { defineFamily } from '../family.js';
import { imageHeads } from '../bases/vision/image-heads.js';
import { imageInput } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import {
  divisible,
  mobilenetConfig,
  mobilenetModel,
  type Step,
  stepped,
  type StepMap,
} from '../bases/vision/mobilenet-blocks.js';

const STRIDES = [2, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1];
const CHANNELS = [16, 24, 24, 32, 32, 32, 64, 64, 64, 64, 96, 96, 96, 160, 160, 160, 320];

const config = z.object({
  ...mobilenetConfig,
  depth_divisible_by: size.default(8),
  expand_ratio: z.number().min(0.01).max(64).default(6),
  output_stride: z.literal(32, 'steps that are dilated are not known').default(32),
  first_layer_is_expansion: z.boolean().default(true),
  finegrained_output: z.boolean().default(true),
});
type Config = z.output<typeof config>;

const rounded = (value: number, { depth_divisible_by: divisor, min_depth: least }: Config): number =>
  divisible(value, { divisor, least });

const scaled = (c: Config, width: number): number => rounded(roundHalfEven(width * c.depth_multiplier), c);

/** Widened, each channel by itself, narrowed again. */
function residual(
  g: GraphWriter,
  map: StepMap,
  c: Config,
  { name, to, stride }: Required<Pick<Step, 'name' | 'to' | 'stride'>>,
): StepMap {
  const wide = rounded(roundHalfEven(map.width * c.expand_ratio), c);
  const widened = stepped(g, map, c, { name: `${name}.expand_1x1`, to: wide, kernel: 1 });
  const seen = stepped(g, widened, c, { name: `${name}.conv_3x3`, to: wide, kernel: 3, stride, apart: true });
  const found = stepped(g, seen, c, { name: `${name}.reduce_1x1`, to, kernel: 1, active: false });
  const added = stride === 1 && map.width === to;
  return added ? { x: g.node('Add', [map.x, found.x]), width: to } : found;
}

function statesOf(g: GraphWriter, c: Config, last: number): Value {
  const at = (name: string) => `mobilenet_v2.${name}`;
  const stem = (name: string) => at(`conv_stem.${name}`);
  const [first, ...others] = CHANNELS.map((width) => scaled(c, width)) as [number, ...number[]];
  const to = scaled(c, 32);
  const input = { x: imageInput(g, c.num_channels), width: c.num_channels };
  let map = stepped(g, input, c, { name: stem('first_conv'), to, kernel: 3, stride: 2 });
  if (!c.first_layer_is_expansion) map = stepped(g, map, c, { name: stem('expand_1x1'), to, kernel: 1 });
  map = stepped(g, map, c, { name: stem('conv_3x3'), to, kernel: 3, apart: true });
  map = stepped(g, map, c, { name: stem('reduce_1x1'), to: first, kernel: 1, active: false });
  STRIDES.forEach((stride, i) => {
    map = residual(g, map, c, { name: at(`layer.${i}`), to: others[i]!, stride });
  });
  return stepped(g, map, c, { name: at('conv_1x1'), to: last, kernel: 1 }).x;
}

/** modeling_mobilenet_v2.py */
export const mobilenetV2 = defineFamily({
  modelTypes: ['mobilenet_v2'],
  readers: { processor: 'MobileNetV2' },
  memory: { convolutional: true },
  config: config,
  prefixes: ['mobilenet_v2.'],
  heads: imageHeads((c: Config) => {
    const last = c.finegrained_output && c.depth_multiplier < 1 ? 1280 : scaled(c, 1280);
    return mobilenetModel(c, last, (g) => statesOf(g, c, last));
  }),
});
