import { RunError } from '../../../../core/errors.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { clipToken } from './image-token.js';
import { requireNamedToken } from './named-token.js';
import { createQwen2VlFamily } from './qwen2-vl.js';

/** Where config.json names no token of videos. */
const CLIP = '<|VIDEO|>';

/**
 * Qwen2.5-Omni: Qwen2.5-VL's images, which have positions of their own only behind the mark that begins them.
 * @throws RunError not_ready for files that name no such mark: Python fails at each image
 */
export function createQwen25OmniFamily(files: FamilyFiles): ImageFamily {
  const { config, tokenizer } = files;
  const family = createQwen2VlFamily(files);
  const id = config['vision_start_token_id'];
  const start = typeof id === 'number' ? tokenizer.tokenOf(id) : undefined;
  if (!start)
    throw new RunError('not_ready', 'config.json: vision_start_token_id is needed, and is no token');
  const audio = ['audio_token', 'audio_bos_token'].map((name) => requireNamedToken(tokenizer, name));
  return {
    ...family,
    placeholder: start + family.placeholder,
    foreign: [...audio, clipToken(files, CLIP).placeholder],
    expand: (layout) => start + family.expand(layout),
  };
}

/** Qwen3-Omni: the same, whose positions take any such mark for the beginning of an image: no text may hold one elsewhere. */
export function createQwen3OmniFamily(files: FamilyFiles): ImageFamily {
  const family = createQwen25OmniFamily(files);
  const start = files.tokenizer.tokenOf(files.config['vision_start_token_id'] as number)!;
  const count = (text: string, part: string) => text.split(part).length - 1;
  return {
    ...family,
    begin(text) {
      if (count(text, start) === count(text, family.placeholder)) return text;
      throw new RunError('unprocessable', `texts must not hold ${start}, which begins an image`);
    },
  };
}
