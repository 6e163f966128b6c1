import * as z from 'zod';
import { defineFamily } from '../family.js';
import { imageHeads } from '../bases/vision/image-heads.js';
import { imageInput } from '../layers/patch-embed.js';
import {
  mobilenetConfig,
  type MobilenetConfig,
  mobilenetModel,
  stepped,
  type StepMap,
} from '../bases/vision/mobilenet-blocks.js';

const STRIDES = [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1];

/** Channels of the first step, and behind each pair of the others, which double them where they narrow the image. */
function widthsOf(c: MobilenetConfig): number[] {
  let depth = 32;
  const width = () => Math.max(Math.trunc(depth * c.depth_multiplier), c.min_depth);
  const first = width();
  const others = STRIDES.map((stride, i) => {
    if (stride === 2 || i === 0) depth *= 2;
    return width();
  });
  return [first, ...others];
}

/** modeling_mobilenet_v1.py */
export const mobilenetV1 = defineFamily({
  modelTypes: ['mobilenet_v1'],
  readers: { processor: 'MobileNetV1' },
  memory: { convolutional: true },
  config: z.object(mobilenetConfig),
  prefixes: ['mobilenet_v1.'],
  heads: imageHeads((c: MobilenetConfig) => {
    const widths = widthsOf(c);
    return mobilenetModel(c, widths.at(-1)!, (g) => {
      const at = (name: string) => `mobilenet_v1.${name}`;
      let map: StepMap = { x: imageInput(g, c.num_channels), width: c.num_channels };
      map = stepped(g, map, c, { name: at('conv_stem'), to: widths[0]!, kernel: 3, stride: 2 });
      STRIDES.forEach((stride, i) => {
        const name = (part: number) => at(`layer.${2 * i + part}`);
        map = stepped(g, map, c, { name: name(0), to: map.width, kernel: 3, stride, apart: true });
        map = stepped(g, map, c, { name: name(1), to: widths[i + 1]!, kernel: 1 });
      });
      return map.x;
    });
  }),
});
