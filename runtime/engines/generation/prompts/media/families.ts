import { RunError } from '../../../../core/errors.js';
import type { ModelReaders, PromptKind } from '../../../../core/readers.js';
import type {
  ClipFamily,
  ClipFiles,
  CreateClipFamily,
  CreateFamily,
  CreateAudioFamily,
  ImageFamily,
  AudioFamily,
} from './family.js';
import { createLlavaNextFamily, createLlavaNextVideoFamily, createLlavaOnevisionFamily } from './anyres.js';
import { createApertus15Family } from './apertus1p5.js';
import { createAriaFamily } from './aria.js';
import { createAyaVisionFamily } from './aya-vision.js';
import { createBlip2Family } from './blip-2.js';
import { createChameleonFamily } from './chameleon.js';
import { createCohere2VisionFamily } from './cohere2-vision.js';
import { createDeepseekOcr2Family } from './deepseek-ocr2.js';
import { createDeepseekVlHybridFamily } from './deepseek-vl-hybrid.js';
import { createDeepseekVlFamily } from './deepseek-vl.js';
import { createEmu3Family } from './emu3.js';
import { createGemma3Family } from './gemma3.js';
import { createGemma4Family, createGemma4UnifiedFamily } from './gemma4.js';
import { createGlmAsrFamily } from './glmasr.js';
import { createGotOcr2Family, createPpChart2TableFamily } from './got-ocr2.js';
import { createFunAsrNanoFamily } from './fun-asr-nano.js';
import { createGraniteSpeechFamily } from './granite-speech.js';
import { createIdefics2Family } from './idefics2.js';
import { createIdefics3Family, createSmolVlmFamily } from './idefics3.js';
import { createInternVlClips, createInternVlFamily, createQianfanOcrFamily } from './internvl.js';
import { createInstructBlipFamily } from './instructblip.js';
import { createLfm2VlFamily } from './lfm2-vl.js';
import { createLlavaOnevisionClips } from './llava-onevision-clips.js';
import { createLlama4Family } from './llama4.js';
import { createLlavaFamily, createLlavaSiglipFamily } from './llava.js';
import { createHunyuanVlFamily } from './hunyuan-vl.js';
import { createJanusFamily } from './janus.js';
import { createMiniCpmOcrFamily, createMiniCpmVFamily } from './minicpm-v.js';
import { createMllamaFamily } from './mllama.js';
import { createOvis2Family } from './ovis2.js';
import { createPaliGemmaFamily } from './paligemma.js';
import { createLightOnOcrFamily } from './lighton-ocr.js';
import { createQwen25OmniFamily, createQwen3OmniFamily } from './qwen2-5-omni.js';
import { createQwen3AsrFamily } from './qwen3-asr.js';
import { createPixtralFamily } from './pixtral.js';
import { createQwen2AudioFamily } from './qwen2-audio.js';
import {
  createCohereCompassFamily,
  createCosmos3EdgeFamily,
  createFlatPatchFamily,
  createGlm4vFamily,
  createGlmgaFamily,
  createKimiK25Family,
  createPaddleOcrFamily,
  createQwen2VlFamily,
  createVideoLlama3Family,
} from './qwen2-vl.js';
import { createQwen25VlClips, createQwen2VlClips } from './qwen2-vl-clips.js';
import { createQwen3VlClips } from './qwen3-vl-clips.js';
import { createSmolVlmClips } from './smolvlm-clips.js';
import { createUltravoxFamily } from './ultravox.js';
import { createVideoLlavaFamily } from './video-llava.js';
import { createVoxtralFamily } from './voxtral.js';

/** Names in model.json to how media become part of a prompt, by kind; families of models say theirs (runtime/models/). */
export const PROMPTS: {
  image: Readonly<Record<string, CreateFamily>>;
  audio: Readonly<Record<string, CreateAudioFamily>>;
  video: Readonly<Record<string, CreateClipFamily>>;
} = {
  image: {
    apertus1p5: createApertus15Family,
    aria: createAriaFamily,
    chameleon: createChameleonFamily,
    'deepseek-ocr2': createDeepseekOcr2Family,
    emu3: createEmu3Family,
    idefics2: createIdefics2Family,
    idefics3: createIdefics3Family,
    smolvlm: createSmolVlmFamily,
    llama4: createLlama4Family,
    llava: createLlavaFamily,
    'llava-siglip': createLlavaSiglipFamily,
    mllama: createMllamaFamily,
    pixtral: createPixtralFamily,
    'video-llava': createVideoLlavaFamily,
    'llava-next': createLlavaNextFamily,
    'llava-next-video': createLlavaNextVideoFamily,
    'llava-onevision': createLlavaOnevisionFamily,
    'lighton-ocr': createLightOnOcrFamily,
    'aya-vision': createAyaVisionFamily,
    'cohere2-vision': createCohere2VisionFamily,
    paligemma: createPaliGemmaFamily,
    gemma3: createGemma3Family,
    gemma4: createGemma4Family,
    'gemma4-unified': createGemma4UnifiedFamily,
    'qwen2-vl': createQwen2VlFamily,
    'qwen2-5-omni': createQwen25OmniFamily,
    'qwen3-omni': createQwen3OmniFamily,
    'paddleocr-vl': createPaddleOcrFamily,
    glm4v: createGlm4vFamily,
    glmga: createGlmgaFamily,
    'cohere-compass': createCohereCompassFamily,
    'cosmos3-edge': createCosmos3EdgeFamily,
    'kimi-k25': createKimiK25Family,
    'flat-patches': createFlatPatchFamily,
    'video-llama-3': createVideoLlama3Family,
    internvl: createInternVlFamily,
    'qianfan-ocr': createQianfanOcrFamily,
    'got-ocr2': createGotOcr2Family,
    'pp-chart2table': createPpChart2TableFamily,
    'deepseek-vl': createDeepseekVlFamily,
    janus: createJanusFamily,
    'hunyuan-vl': createHunyuanVlFamily,
    'deepseek-vl-hybrid': createDeepseekVlHybridFamily,
    'blip-2': createBlip2Family,
    instructblip: createInstructBlipFamily,
    'lfm2-vl': createLfm2VlFamily,
    'minicpm-v': createMiniCpmVFamily,
    'minicpm-ocr': createMiniCpmOcrFamily,
    ovis2: createOvis2Family,
  },
  audio: {
    'qwen2-audio': createQwen2AudioFamily,
    'qwen3-asr': createQwen3AsrFamily,
    glmasr: createGlmAsrFamily,
    'granite-speech': createGraniteSpeechFamily,
    'fun-asr-nano': createFunAsrNanoFamily,
    voxtral: createVoxtralFamily,
    ultravox: createUltravoxFamily,
  },
  video: {
    smolvlm: createSmolVlmClips,
    'llava-onevision': createLlavaOnevisionClips,
    'qwen2-vl': createQwen2VlClips,
    'qwen2-5-vl': createQwen25VlClips,
    'qwen3-vl': createQwen3VlClips,
    internvl: createInternVlClips,
  },
};

/** How one model reads its media; the kinds that it takes. */
export interface MediaFamilies {
  image?: ImageFamily;
  audio?: AudioFamily;
  video?: ClipFamily;
}

export type MediumKind = PromptKind;

/**
 * @param names from model.json
 * @param main the kind that the model's task is about
 * @throws RunError not_ready for a way that is not known: guessing would give wrong answers silently
 */
export function createMediaFamilies(
  files: ClipFiles,
  names: NonNullable<ModelReaders['prompts']>,
  main: MediumKind,
): MediaFamilies {
  if (names[main] === undefined)
    throw new RunError(
      'not_ready',
      `conversations with ${NAMES[main]} are not supported for models of this type; supported: ${Object.keys(PROMPTS[main]).join(', ')}`,
    );
  const { image, audio, video } = names;
  return {
    ...(image !== undefined && { image: found('image', image)(files) }),
    ...(audio !== undefined && { audio: found('audio', audio)(files) }),
    // Images for images alone have nothing that reads videos.
    ...(video !== undefined && main === 'video' && { video: found('video', video)(files) }),
  };
}

function found<Kind extends MediumKind>(kind: Kind, name: string): (typeof PROMPTS)[Kind][string] {
  const all: (typeof PROMPTS)[Kind] = PROMPTS[kind];
  if (Object.hasOwn(all, name)) return all[name] as (typeof PROMPTS)[Kind][string];
  throw new RunError(
    'not_ready',
    `model.json: readers.prompts.${kind}: this server has no ${name}; update it`,
  );
}

/** Kinds in words. */
export const NAMES: Readonly<Record<MediumKind, string>> = {
  image: 'images',
  audio: 'audio',
  video: 'videos',
};
