import type { FamilyFiles, PictureFamily } from './family.js';
import { createLlavaFamily } from './llava.js';
import { clipToken } from './picture-token.js';

/** What VideoLlavaProcessor takes where its file does not say. */
const USUAL = { patch_size: 14, num_additional_image_tokens: 1, vision_feature_select_strategy: 'default' };

/** Video-LLaVA: images as LLaVA reads them; videos are not read here. */
export const createVideoLlavaFamily = (files: FamilyFiles): PictureFamily => ({
  ...createLlavaFamily({ ...files, processor: { ...USUAL, ...files.processor } }),
  foreign: [clipToken(files, '<video>').placeholder],
});
