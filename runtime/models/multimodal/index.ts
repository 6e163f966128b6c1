import type { AnyFamily } from '../family.js';
import { ayaVision } from './aya-vision.js';
import { blip2 } from './blip-2.js';
import { cohereCompass } from './cohere-compass.js';
import { cohere2Vision } from './cohere2-vision.js';
import { deepseekVlHybrid } from './deepseek-vl-hybrid.js';
import { cosmos3Edge } from './cosmos3-edge.js';
import { deepseekVl } from './deepseek-vl.js';
import { exaone45 } from './exaone4-5.js';
import { florence2 } from './florence2/family.js';
import { gemma3Images } from './gemma3.js';
import { gemma4Media } from './gemma4/family.js';
import { gemma4UnifiedMedia } from './gemma4/unified.js';
import { paligemma } from './paligemma.js';
import { glm46v, glm4v, glm4vMoe, glmga, glmOcr } from './glm4v/family.js';
import { glmAsr } from './glmasr.js';
import { gotOcr2, ppChart2Table } from './got-ocr2.js';
import { hyperclovaxVision } from './hyperclovax-vision-v2.js';
import { idefics2 } from './idefics2.js';
import { idefics3 } from './idefics3.js';
import { instructblip } from './instructblip.js';
import { internvl } from './internvl.js';
import { lfm2Vl } from './lfm2-vl.js';
import { funAsrNano } from './fun-asr-nano.js';
import { graniteSpeech } from './granite-speech/family.js';
import { lfm3Vl } from './lfm3-vl/family.js';
import { hunyuanVl } from './hunyuan-vl/family.js';
import { janus } from './janus.js';
import { kimiK25 } from './kimi-k25/family.js';
import { llama4Media } from './llama4.js';
import { llava } from './llava.js';
import { llavaNext, llavaNextVideo } from './llava-next.js';
import { llavaOnevision } from './llava-onevision.js';
import { ovis2 } from './ovis2.js';
import { paddleocrVl } from './paddleocr-vl.js';
import { qwen3Asr } from './qwen3-asr.js';
import { lightonOcr } from './lighton-ocr.js';
import { qwen35MoeImages, qwen35Images } from './qwen3-5.js';
import { minicpmOcr, minicpmV46 } from './minicpm-v/family.js';
import { mistral3 } from './mistral3.js';
import { mllama, mllamaText } from './mllama/family.js';
import { qianfanOcr } from './qianfan-ocr.js';
import { qwen2Audio } from './qwen2-audio.js';
import { qwen25Omni } from './qwen2-5-omni.js';
import { qwen3Omni } from './qwen3-omni.js';
import { qwen25Vl, qwen2Vl } from './qwen2-vl/family.js';
import { cosmos3Omni, qwen3Vl, qwen3VlMoe } from './qwen3-vl/family.js';
import { videoLlama3 } from './video-llama-3.js';
import { videoLlava } from './video-llava.js';
import { vipllava } from './vipllava.js';
import { voxtral } from './voxtral.js';

/** Language models that read images, audio clips or videos among words. */
export const MEDIA: readonly AnyFamily[] = [
  ...[idefics2, idefics3],
  gemma3Images,
  ...[gemma4Media, gemma4UnifiedMedia],
  paligemma,
  llama4Media,
  llava,
  ...[llavaNext, llavaNextVideo],
  llavaOnevision,
  qwen2Vl,
  ...[qwen25Vl, qwen25Omni, qwen3Omni],
  ...[qwen3Vl, cosmos3Omni, cosmos3Edge],
  qwen3VlMoe,
  internvl,
  ...[gotOcr2, ppChart2Table],
  ...[deepseekVl, deepseekVlHybrid],
  ...[blip2, instructblip, qianfanOcr, exaone45, hyperclovaxVision, videoLlama3, ovis2],
  mistral3,
  ...[mllama, mllamaText, janus, hunyuanVl],
  lightonOcr,
  paddleocrVl,
  ...[glm4v, glm46v, glmga, glm4vMoe, glmOcr],
  qwen35Images,
  qwen35MoeImages,
  ayaVision,
  ...[cohere2Vision, cohereCompass],
  ...[vipllava, videoLlava],
  ...[lfm2Vl, lfm3Vl, kimiK25, minicpmV46, minicpmOcr],
  florence2,
  voxtral,
  qwen2Audio,
  ...[qwen3Asr, glmAsr, graniteSpeech, funAsrNano],
];
