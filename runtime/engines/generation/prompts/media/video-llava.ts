import type { FamilyFiles, ImageFamily } from './family.js';
import { createLlavaFamily } from './llava.js';
import { clipToken } from './image-token.js';

/** What VideoLlavaProcessor takes where its file does not say. */
const USUAL = { patch_size: 14, num_additional_image_tokens: 1, vision_feature_select_strategy: 'default' };

/** Video-LLaVA: images as LLaVA reads them; videos are not read here. */
export const createVideoLlavaFamily = (files: FamilyFiles): ImageFamily => ({
  ...createLlavaFamily({ ...files, processor: { ...USUAL, ...files.processor } }),
  foreign: [clipToken(files, '<video>').placeholder],
});
