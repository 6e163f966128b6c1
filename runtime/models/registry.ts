import type { AnyFamily } from './family.js';
import { albert } from './text/albert.js';
import { bert } from './text/bert.js';
import { convbert } from './text/convbert.js';
import { deberta } from './text/deberta-v2/family.js';
import { distilbert } from './text/distilbert.js';
import { electra } from './text/electra.js';
import { layoutlm } from './text/layoutlm.js';
import { longformer } from './text/longformer.js';
import { mobilebert } from './text/mobilebert.js';
import { mpnet } from './text/mpnet.js';
import { roberta } from './text/roberta.js';
import { roformer } from './text/roformer.js';
import { squeezebert } from './text/squeezebert.js';
import { bloom } from './text/bloom.js';
import { blip } from './multimodal/blip/family.js';
import { git } from './multimodal/git.js';
import { pix2struct } from './multimodal/pix2struct.js';
import { visionEncoderDecoder } from './multimodal/vision-encoder-decoder/family.js';
import { DIFFUSION } from './diffusion/index.js';
import { gpt2 } from './text/gpt2.js';
import { gptBigcode } from './text/gpt-bigcode.js';
import { gptNeo } from './text/gpt-neo.js';
import { LLAMA_LIKE } from './text/decoders.js';
import { nemotronH } from './text/nemotron-h.js';
import { mamba2 } from './text/mamba2.js';
import { MEDIA } from './multimodal/index.js';
import { modernbert } from './text/modernbert.js';
import { modernbertDecoder } from './text/modernbert-decoder.js';
import { eurobert } from './text/eurobert.js';
import { gte, newGte } from './text/gte.js';
import { jinaEmbeddingsV3 } from './text/jina-embeddings-v3.js';
import { nomicBert } from './text/nomic-bert.js';
import { mpt } from './text/mpt.js';
import { falcon } from './text/falcon.js';
import { codegen } from './text/codegen.js';
import { gptj } from './text/gptj.js';
import { gptNeox } from './text/gpt-neox.js';
import { phi } from './text/phi.js';
import { stablelm } from './text/stablelm.js';
import { IMAGES } from './vision/index.js';
import { bart } from './text/bart.js';
import { blenderbot } from './text/blenderbot.js';
import { blenderbotSmall } from './text/blenderbot-small.js';
import { led } from './text/led.js';
import { longt5 } from './text/longt5.js';
import { m2m100 } from './text/m2m-100.js';
import { marian } from './text/marian.js';
import { mbart } from './text/mbart.js';
import { mvp } from './text/mvp.js';
import { pegasus } from './text/pegasus.js';
import { plbart } from './text/plbart.js';
import { switchTransformers } from './text/switch-transformers.js';
import { mt5, t5, umt5 } from './text/t5.js';
import { AUDIOS } from './audio/recognition.js';
import { TIMM } from './timm/index.js';
import { SPEECH } from './audio/synthesis.js';
import { xlnet } from './text/xlnet.js';

/** Families that graphs are written for. */
export const FAMILIES: readonly AnyFamily[] = [
  ...[bert, roberta, mpnet, electra, albert, distilbert, modernbert, deberta, layoutlm],
  ...[mobilebert, squeezebert, longformer, roformer, convbert, xlnet, eurobert, nomicBert, gte, newGte],
  jinaEmbeddingsV3,
  ...LLAMA_LIKE,
  ...[mvp, plbart, led, longt5, switchTransformers],
  ...[bart, blenderbot, blenderbotSmall, mbart, pegasus, marian, m2m100, t5, mt5, umt5],
  ...[bloom, mpt, mamba2, nemotronH, modernbertDecoder],
  ...[gpt2, gptBigcode, gptNeo, gptj, codegen, gptNeox, falcon, phi, stablelm],
  ...IMAGES,
  ...TIMM,
  ...AUDIOS,
  ...SPEECH,
  ...MEDIA,
  ...[visionEncoderDecoder, blip, git, pix2struct],
  ...DIFFUSION,
];

/** @param modelType of config.json; for a network of diffusers its class */
export function familyOf(modelType: string | undefined): AnyFamily | undefined {
  return FAMILIES.find(({ modelTypes }) => modelTypes.includes(modelType ?? ''));
}
