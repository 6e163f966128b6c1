import { defineFamily } from '../../family.js';
import { named } from '../../inert-fields.js';
import { imageInput } from '../../layers/patch-embed.js';
import { OF_VIDEOS } from '../sam2/family.js';
import { levelHeads } from '../sam2/level-heads.js';
import { pyramidLevels } from '../sam2/pyramid-neck.js';
import { type EdgeTamConfig, edgeTamConfig } from './config.js';
import { repVitStages } from './repvit.js';

/** SAM 2 whose images are read by RepViT; of videos single images are read. modeling_edgetam.py */
export const edgeTam = defineFamily({
  modelTypes: ['edgetam', 'edgetam_video'],
  inert: [
    ...[OF_VIDEOS, { fields: /^(?:perceiver_resampler_|rope_)/, reason: OF_VIDEOS.reason }],
    {
      ...{ part: 'vision_config.backbone_config', fields: named('label_names', 'num_classes', 'do_pooling') },
      reason: 'the network tells no labels, and pools nothing',
    },
    { part: 'vision_config', fields: named('hidden_act', 'layer_norm_eps'), reason: 'timm has its own' },
  ],
  readers: { processor: 'Sam2' },
  config: edgeTamConfig,
  prefixes: ['edgetam.'],
  heads: levelHeads<EdgeTamConfig>({
    ownWaves: true,
    write(g, { images: c, prompts: { image_size: edge } }) {
      const pixels = imageInput(g, 3, [edge, edge]);
      const stages = repVitStages(g, c.backbone_config, pixels, 'vision_encoder.backbone.timm_model.');
      return pyramidLevels(
        g,
        stages.map(({ x, width }) => ({ image: () => x, width })),
        c,
      );
    },
  }),
});
