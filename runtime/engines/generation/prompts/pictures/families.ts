import { RunError } from '../../../../core/errors.js';
import type { CreateFamily, FamilyFiles, PictureFamily } from './family.js';
import { createIdefics3Family } from './idefics3.js';
import { createLlavaFamily } from './llava.js';
import { createQwen2VlFamily } from './qwen2-vl.js';

/** `model_type` of config.json to how its pictures become part of a prompt. */
const FAMILIES: Readonly<Record<string, CreateFamily>> = {
  idefics3: createIdefics3Family,
  smolvlm: createIdefics3Family,
  llava: createLlavaFamily,
  qwen2_vl: createQwen2VlFamily,
  qwen2_5_vl: createQwen2VlFamily,
};

/** @throws RunError not_ready for a family that is not known: guessing would give wrong answers silently */
export function createPictureFamily(files: FamilyFiles): PictureFamily {
  const type = String(files.config['model_type']);
  const create = Object.hasOwn(FAMILIES, type) ? FAMILIES[type] : undefined;
  if (create) return create(files);
  throw new RunError(
    'not_ready',
    `conversations with pictures are not supported for models of type ${type}; supported: ${Object.keys(FAMILIES).join(', ')}`,
  );
}
