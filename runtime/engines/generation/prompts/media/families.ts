import { RunError } from '../../../../core/errors.js';
import type { Json } from '../../../repository/model-folder.js';
import type {
  ClipFamily,
  ClipFiles,
  CreateClipFamily,
  CreateFamily,
  CreateSoundFamily,
  PictureFamily,
  SoundFamily,
} from './family.js';
import { createLlavaNextFamily, createLlavaOnevisionFamily } from './anyres.js';
import { createAyaVisionFamily } from './aya-vision.js';
import { createGemma3Family } from './gemma3.js';
import { createIdefics3Family } from './idefics3.js';
import { createInternVlClips, createInternVlFamily } from './internvl.js';
import { createLlavaOnevisionClips } from './llava-onevision-clips.js';
import { createLlavaFamily } from './llava.js';
import { createPaliGemmaFamily } from './paligemma.js';
import { createLightOnOcrFamily } from './lighton-ocr.js';
import { createQwen3AsrFamily } from './qwen3-asr.js';
import { createPixtralFamily } from './pixtral.js';
import { createQwen2AudioFamily } from './qwen2-audio.js';
import { createPaddleOcrFamily, createQwen2VlFamily } from './qwen2-vl.js';
import { createQwen2VlClips } from './qwen2-vl-clips.js';
import { createQwen3VlClips } from './qwen3-vl-clips.js';
import { createSmolVlmClips } from './smolvlm-clips.js';
import { createUltravoxFamily } from './ultravox.js';
import { createVoxtralFamily } from './voxtral.js';

/** Pixtral is a LLaVA with another encoder, whose pictures keep their form. */
const createLlavaOrPixtral: CreateFamily = (files) =>
  (files.config['vision_config'] as Json | undefined)?.['model_type'] === 'pixtral'
    ? createPixtralFamily(files)
    : createLlavaFamily(files);

interface Creators {
  image?: CreateFamily;
  audio?: CreateSoundFamily;
  video?: CreateClipFamily;
}

/** `model_type` of config.json to how its media become part of a prompt, by kind. */
const FAMILIES: Readonly<Record<string, Creators>> = {
  idefics3: { image: createIdefics3Family },
  smolvlm: { image: createIdefics3Family, video: createSmolVlmClips },
  llava: { image: createLlavaOrPixtral },
  llava_next: { image: createLlavaNextFamily },
  llava_onevision: { image: createLlavaOnevisionFamily, video: createLlavaOnevisionClips },
  mistral3: { image: createPixtralFamily },
  lighton_ocr: { image: createLightOnOcrFamily },
  aya_vision: { image: createAyaVisionFamily },
  paligemma: { image: createPaliGemmaFamily },
  gemma3: { image: createGemma3Family },
  qwen2_vl: { image: createQwen2VlFamily, video: createQwen2VlClips },
  qwen2_5_vl: { image: createQwen2VlFamily, video: createQwen2VlClips },
  qwen3_vl: { image: createQwen2VlFamily, video: createQwen3VlClips },
  paddleocr_vl: { image: createPaddleOcrFamily },
  qwen3_5: { image: createQwen2VlFamily, video: createQwen3VlClips },
  qwen3_5_moe: { image: createQwen2VlFamily, video: createQwen3VlClips },
  qwen3_vl_moe: { image: createQwen2VlFamily, video: createQwen3VlClips },
  internvl: { image: createInternVlFamily, video: createInternVlClips },
  qwen2_audio: { audio: createQwen2AudioFamily },
  qwen3_asr: { audio: createQwen3AsrFamily },
  voxtral: { audio: createVoxtralFamily },
  ultravox: { audio: createUltravoxFamily },
};

/** The kinds that models of a type read. */
export function mediaKinds(modelType: string): MediumKind[] {
  // florence-chat.ts
  if (modelType === 'florence2') return ['image'];
  return Object.hasOwn(FAMILIES, modelType) ? (Object.keys(FAMILIES[modelType]!) as MediumKind[]) : [];
}

/** How one model reads its media; the kinds that it takes. */
export interface MediaFamilies {
  image?: PictureFamily;
  audio?: SoundFamily;
  video?: ClipFamily;
}

export type MediumKind = keyof MediaFamilies;

/**
 * @param main the kind that the model's task is about
 * @throws RunError not_ready for a family that is not known: guessing would give wrong answers silently
 */
export function createMediaFamilies(files: ClipFiles, main: MediumKind): MediaFamilies {
  const type = String(files.config['model_type']);
  const create = Object.hasOwn(FAMILIES, type) ? FAMILIES[type]! : {};
  if (!create[main]) {
    const known = Object.keys(FAMILIES).filter((name) => FAMILIES[name]![main]);
    throw new RunError(
      'not_ready',
      `conversations with ${NAMES[main]} are not supported for models of type ${type}; supported: ${known.join(', ')}`,
    );
  }
  return {
    ...(create.image ? { image: create.image(files) } : {}),
    ...(create.audio ? { audio: create.audio(files) } : {}),
    // Images for pictures alone have nothing that reads videos.
    ...(create.video && main === 'video' ? { video: create.video(files) } : {}),
  };
}

/** Kinds in words. */
export const NAMES: Readonly<Record<MediumKind, string>> = {
  image: 'pictures',
  audio: 'sounds',
  video: 'videos',
};
