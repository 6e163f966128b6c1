import type { AnyArchitecture } from './architecture.js';
import { albert } from './architectures/bert-like/albert.js';
import { bert } from './architectures/bert-like/bert.js';
import { convbert } from './architectures/bert-like/convbert.js';
import { deberta } from './architectures/bert-like/deberta.js';
import { distilbert } from './architectures/bert-like/distilbert.js';
import { electra } from './architectures/bert-like/electra.js';
import { layoutlm } from './architectures/bert-like/layoutlm.js';
import { longformer } from './architectures/bert-like/longformer.js';
import { mobilebert } from './architectures/bert-like/mobilebert.js';
import { mpnet } from './architectures/bert-like/mpnet.js';
import { roberta } from './architectures/bert-like/roberta.js';
import { roformer } from './architectures/bert-like/roformer.js';
import { squeezebert } from './architectures/bert-like/squeezebert.js';
import { bloom } from './architectures/bloom.js';
import { blip } from './architectures/captions/blip.js';
import { git } from './architectures/captions/git.js';
import { visionEncoderDecoder } from './architectures/captions/vision-encoder-decoder.js';
import { DIFFUSION } from './architectures/diffusion/index.js';
import { gpt2, gptBigcode } from './architectures/gpt2.js';
import { gptNeo } from './architectures/gpt-neo.js';
import { LLAMA_LIKE } from './architectures/llama-like/index.js';
import { mamba2 } from './architectures/mamba2.js';
import { MEDIA } from './architectures/media/index.js';
import { modernbert } from './architectures/modernbert.js';
import { mpt } from './architectures/mpt.js';
import { opt } from './architectures/opt.js';
import { falcon } from './architectures/parallel/falcon.js';
import { codegen, gptj } from './architectures/parallel/gpt-j.js';
import { gptNeox } from './architectures/parallel/gpt-neox.js';
import { phi } from './architectures/parallel/phi.js';
import { stablelm } from './architectures/parallel/stablelm.js';
import { PICTURES } from './architectures/pictures/index.js';
import { bart, blenderbot, m2m100, marian, mbart, pegasus } from './architectures/seq2seq/bart.js';
import { mt5, t5, umt5 } from './architectures/seq2seq/t5.js';
import { SOUNDS } from './architectures/sounds/index.js';
import { TIMM } from './architectures/timm/index.js';
import { SPEECH } from './architectures/speech/index.js';
import { xlnet } from './architectures/xlnet.js';

/** Families that graphs are written for. */
export const ARCHITECTURES: readonly AnyArchitecture[] = [
  ...[bert, roberta, mpnet, electra, albert, distilbert, modernbert, deberta, layoutlm],
  ...[mobilebert, squeezebert, longformer, roformer, convbert, xlnet],
  ...LLAMA_LIKE,
  ...[bart, blenderbot, mbart, pegasus, marian, m2m100, t5, mt5, umt5],
  ...[bloom, mpt, mamba2],
  ...[gpt2, gptBigcode, gptNeo, opt, gptj, codegen, gptNeox, falcon, phi, stablelm],
  ...PICTURES,
  ...TIMM,
  ...SOUNDS,
  ...SPEECH,
  ...MEDIA,
  ...[visionEncoderDecoder, blip, git],
  ...DIFFUSION,
];

/** @param modelType of config.json; for a network of diffusers its class */
export function architectureOf(modelType: string | undefined): AnyArchitecture | undefined {
  return ARCHITECTURES.find(({ modelTypes }) => modelTypes.includes(modelType ?? ''));
}
