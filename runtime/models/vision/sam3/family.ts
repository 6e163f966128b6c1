import { defineFamily, type Family } from '../../family.js';
import { named } from '../../inert-fields.js';
import { convolution2d } from '../../layers/convolution.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { doubled } from '../sam/mask-decoder.js';
import { OF_VIDEOS } from '../sam2/family.js';
import { levelHeads } from '../sam2/level-heads.js';
import { sam3States } from './backbone.js';
import { type Sam3Config, sam3Config } from './config.js';

/** What patches say, enlarged so many times: float32 [rows, width, lines, columns]. */
function levelOf(g: GraphWriter, states: Value, { images: c }: Sam3Config, index: number): Value {
  const { hidden_size: width } = c.backbone_config;
  const at = (name: string) => `vision_encoder.neck.fpn_layers.${index}.${name}`;
  const scale = c.scale_factors[index];
  let [x, from] = [states, width];
  if (scale !== 1) {
    from = Math.floor(width / 2);
    x = doubled(g, x, at('scale_layers.0'), { from: width, to: from });
  }
  if (scale === 4) {
    const to = Math.floor(width / 4);
    x = doubled(g, g.node('Gelu', [x]), at('scale_layers.2'), { from, to });
    from = to;
  }
  const to = c.fpn_hidden_size;
  const read = convolution2d(g, x, at('proj1'), { from, to, kernel: 1 });
  return convolution2d(g, read, at('proj2'), { from: to, to, kernel: 3 });
}

const OF_NECK = {
  ...{ part: 'vision_config', fields: named('hidden_act', 'layer_norm_eps') },
  reason: 'the backbone has its own, and the neck neither',
};

const shared = {
  readers: { processor: 'Sam3' },
  prefixes: ['tracker_model.', 'sam3_tracker.'],
  parts: {
    'vision_encoder.backbone.': ['detector_model.vision_encoder.backbone.', 'vision_encoder.backbone.'],
    'vision_encoder.neck.': ['tracker_neck.', 'vision_encoder.neck.'],
  },
  heads: levelHeads<Sam3Config>({
    ownWaves: true,
    write(g, c) {
      const states = sam3States(g, c.images.backbone_config);
      return [0, 1, 2].map((index) => levelOf(g, states, c, index));
    },
    // Of four levels Python adds it to the last one, which prompts don't look at.
    knowsNoMemory: (c) => c.images.scale_factors.length === 3,
  }),
} satisfies Partial<Family<Sam3Config>>;

/** SAM 3's answers to prompts of points. modeling_sam3_tracker.py */
export const sam3Tracker = defineFamily({
  ...{ modelTypes: ['sam3_tracker'], inert: [OF_NECK], config: sam3Config, ...shared },
});

/** The same of files of the model of videos, which have its parts by other names. */
export const sam3Video = defineFamily({
  ...{ modelTypes: ['sam3_video'], config: sam3Config, ...shared },
  inert: [OF_NECK, OF_VIDEOS, { fields: /^rope_/, reason: OF_VIDEOS.reason }],
});
