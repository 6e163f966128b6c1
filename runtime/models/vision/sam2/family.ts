import { defineFamily } from '../../family.js';
import { channelsFirst } from '../../layers/norm.js';
import { sam2Config, type Sam2Config } from './config.js';
import { hieraStages } from './hiera.js';
import { levelHeads } from './level-heads.js';
import { pyramidLevels } from './pyramid-neck.js';

/** Fields of models that follow objects through videos. */
export const OF_VIDEOS = {
  fields:
    /^(?:memory_|mask_downsampler_|multimask_|sigmoid_|enable_|num_maskmem|max_object_pointers|max_cond_frame|image_size$)/,
  reason: 'memory between frames, or their size: images are served',
};

/** Images are read by Hiera, and masks know of its finer stages, too; of videos single images are read. modeling_sam2.py */
export const sam2 = defineFamily({
  ...{
    modelTypes: ['sam2', 'sam2_video'],
    inert: [OF_VIDEOS],
    readers: { processor: 'Sam2' },
    config: sam2Config,
    prefixes: ['sam2.'],
    heads: levelHeads<Sam2Config>({
      write(g, { images: c, prompts }) {
        const stages = hieraStages(g, c.backbone_config, prompts.image_size);
        const read = stages.map(({ x, width }) => ({ image: () => channelsFirst(g, x), width }));
        return pyramidLevels(g, read, c);
      },
    }),
  },
});
