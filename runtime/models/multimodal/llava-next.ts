import { defineFamily } from '../family.js';
import { PARTS } from './language-model.js';
import { config, squareFeatures, headsOf } from './llava.js';

const heads = headsOf(squareFeatures);

/** The same for squares of larger images. modeling_llava_next.py */
export const llavaNext = defineFamily({
  modelTypes: ['llava_next'],
  readers: { prompts: { image: 'llava-next' } },
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: PARTS,
  heads,
});

/** The same, taught with videos, whose frames are pooled. modeling_llava_next_video.py */
export const llavaNextVideo = defineFamily({
  modelTypes: ['llava_next_video'],
  readers: { prompts: { image: 'llava-next-video' } },
  usualTask: 'image-text-to-text',
  limits: ['Images are read; videos are refused.'],
  config,
  prefixes: [],
  parts: PARTS,
  heads,
});
