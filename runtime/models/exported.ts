import type { Head } from '../core/handles/index.js';
import type { TaskId } from '../core/task-ids.js';
import type { ModelReaders } from '../core/readers.js';
import type { ReadersOf } from './family.js';
import { debertaReaders } from './text/deberta-v2/config.js';

/** What is known of a type that only exports are served of: no graph is written for it. */
export interface ExportedType {
  /** Of repositories that name neither a task nor a class. */
  usualTask?: TaskId;
  /** Heads of it that engines serve of types that declare them only. */
  heads?: readonly Head[];
  readers?: ReadersOf;
}

const of = (types: readonly string[], readers: ModelReaders): Record<string, ExportedType> =>
  Object.fromEntries(types.map((type) => [type, { readers }]));

/** By `model_type` of config.json. Once a family is written, what is here moves into its module. */
export const EXPORTED: Readonly<Record<string, ExportedType>> = {
  van: { readers: { processor: 'ConvNext' } },
  cvt: { readers: { processor: 'ConvNext' } },
  bit: { readers: { processor: 'Bit' } },
  hiera: { readers: { processor: 'Bit' } },
  focalnet: { readers: { processor: 'Bit' } },
  'data2vec-vision': { readers: { processor: 'Beit' } },
  mobilevitv2: { readers: { processor: 'MobileViT' } },
  groupvit: { readers: { processor: 'CLIP' } },
  metaclip_2: { readers: { processor: 'CLIP' } },
  mlcd: { readers: { processor: 'CLIP' } },
  aimv2: { readers: { processor: 'CLIP' } },
  aimv2_vision_model: { readers: { processor: 'CLIP' } },
  'kosmos-2': { readers: { processor: 'CLIP' } },
  chinese_clip: { readers: { processor: 'ChineseCLIP' } },
  layoutlmv3: {
    heads: ['document-reading'],
    readers: { processor: 'LayoutLMv3', boxes: 'layoutlmv3', positions: 'after-padding' },
  },
  udop: { readers: { processor: 'LayoutLMv3', positions: 'distance' } },
  prompt_depth_anything: { readers: { processor: 'PromptDepthAnything' } },
  align: { readers: { processor: 'EfficientNet' } },
  efficientformer: { readers: { processor: 'EfficientFormer' } },
  pvt: { readers: { processor: 'Pvt' } },
  pvt_v2: { readers: { processor: 'Pvt' } },
  gemma3n: { readers: { processor: 'Siglip' } },
  vit_hybrid: { readers: { processor: 'ViTHybrid' } },
  oneformer: { readers: { processor: 'OneFormer', segmenter: 'task-text' } },
  pixio: { readers: { processor: 'Bit' } },
  clipseg: { readers: { processor: 'ViT' } },
  deimv2: { readers: { processor: 'RTDetr' } },
  pp_doclayout_v2: { readers: { processor: 'PPDocLayoutV2' } },
  pp_doclayout_v3: { readers: { processor: 'PPDocLayoutV3' } },
  pp_doclayout_v4: { readers: { processor: 'PPDocLayoutV4' } },
  tipsv2: { readers: { processor: 'Tipsv2' } },
  tipsv2_vision_model: { readers: { processor: 'Tipsv2' } },
  tipsv2_dpt: { readers: { processor: 'Tipsv2Dpt' } },
  depth_pro: { readers: { processor: 'DepthPro' } },
  zoedepth: { readers: { processor: 'ZoeDepth' } },
  perceiver: { readers: { processor: 'Perceiver' } },
  textnet: { readers: { processor: 'TextNet' } },
  'donut-swin': { readers: { processor: 'Donut' } },
  'maskformer-swin': { readers: { processor: 'MaskFormer' } },
  layoutlmv2: { heads: ['document-reading'], readers: { processor: 'LayoutLMv2' } },
  bridgetower: { readers: { processor: 'BridgeTower' } },
  big_bird: { readers: { positions: 'blocks' } },
  bigbird_pegasus: { readers: { decoderInput: 'shifted', positions: 'blocks' } },
  aria: { readers: { prompts: { image: 'aria' } } },
  emu3: { readers: { prompts: { image: 'emu3' } } },
  deepseek_ocr2: { readers: { prompts: { image: 'deepseek-ocr2' } } },
  chameleon: { readers: { prompts: { image: 'chameleon' } } },
  apertus1p5: { readers: { prompts: { image: 'apertus1p5' } } },
  ultravox: { usualTask: 'audio-text-to-text', readers: { prompts: { audio: 'ultravox' } } },
  deberta: { readers: debertaReaders },
  ...of(
    [
      'xlm-roberta-xl',
      'roberta-prelayernorm',
      'xmod',
      'data2vec-text',
      'ibert',
      'esm',
      'luke',
      'mluke',
      'lilt',
      'markuplm',
    ],
    { positions: 'after-padding' },
  ),
  ...of(['pop2piano', 'funnel'], { positions: 'distance' }),
  ...of(['openai-gpt', 'biogpt', 'ctrl', 'xglm', 'imagegpt'], { positions: 'learned' }),
  'speech-encoder-decoder': { heads: ['speech-seq2seq'] },
};
