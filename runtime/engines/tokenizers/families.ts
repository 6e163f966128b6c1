import { tokenizerClassOf } from '../../hub-config/tokenizer-class.js';
import type { Json } from '../repository/model-folder.js';
import { tiktokenPieces } from '../../core/byte-pair-pieces.js';
import type { TokenizerFiles } from './tokenizer-json.js';

/** What one of transformers' tokenizer classes knows by itself. */
export interface TokenizerFamily {
  /** The class sets lower case and accents itself; `all`: Chinese characters, too. */
  bert?: 'letters' | 'all';
  /** The class builds its post-processor from add_bos_token (this default) and add_eos_token (false). */
  frame?: { bos: boolean };
  /** Pattern of the pieces that byte pairs are found in: the class's own in files of version 5, whatever tokenizer.json says. */
  pieces?: string;
  /** The class has texts in lower case, whatever tokenizer.json says. */
  lowers?: boolean;
  /** The class sets whether blanks count in offsets itself. */
  trims?: boolean;
  /** Score that marks pieces of tokenizer.json which the class's own model of the text doesn't have. */
  foreignScore?: number;
  /** What tokenizer_config.json need not write down. */
  config?: Json;
}

/** The class hands its model no segment numbers. */
const ONE_SEGMENT = { model_input_names: ['input_ids', 'attention_mask'] };

const BERT = {
  ...{ unk_token: '[UNK]', sep_token: '[SEP]', pad_token: '[PAD]' },
  ...{ cls_token: '[CLS]', mask_token: '[MASK]' },
};
const ALBERT = { ...BERT, bos_token: '[CLS]', eos_token: '[SEP]', unk_token: '<unk>', pad_token: '<pad>' };
const ROBERTA = {
  ...{ bos_token: '<s>', eos_token: '</s>', sep_token: '</s>', cls_token: '<s>' },
  ...{ unk_token: '<unk>', pad_token: '<pad>', mask_token: '<mask>' },
};
const XLNET = { ...ROBERTA, sep_token: '<sep>', cls_token: '<cls>' };
const LEFT = { ...ONE_SEGMENT, padding_side: 'left' };
const LLAMA = {
  ...{ bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>', add_prefix_space: null },
  ...LEFT,
};
const GEMMA = { bos_token: '<bos>', eos_token: '<eos>', unk_token: '<unk>', pad_token: '<pad>', ...LEFT };
const COHERE = {
  ...{ unk_token: '<UNK>', bos_token: '<BOS_TOKEN>', eos_token: '<|END_OF_TURN_TOKEN|>' },
  ...LEFT,
};
const GPT = {
  ...{ unk_token: '<|endoftext|>', bos_token: '<|endoftext|>', eos_token: '<|endoftext|>' },
  ...ONE_SEGMENT,
};
const QWEN = {
  ...{ unk_token: '<|endoftext|>', eos_token: '<|endoftext|>', pad_token: '<|endoftext|>' },
  ...ONE_SEGMENT,
};
const ONE_DIGIT = String.raw`\p{N}`;
const BLENDERBOT_SMALL = {
  ...{ bos_token: '__start__', eos_token: '__end__', unk_token: '__unk__', pad_token: '__null__' },
  ...ONE_SEGMENT,
};
const BLOOM = {
  ...{ bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>', pad_token: '<pad>' },
  ...ONE_SEGMENT,
};
const T5 = {
  ...{ eos_token: '</s>', unk_token: '<unk>', pad_token: '<pad>', add_prefix_space: null },
  ...ONE_SEGMENT,
};

const PEGASUS = {
  ...{ eos_token: '</s>', unk_token: '<unk>', pad_token: '<pad>', mask_token: '<mask_2>' },
  ...ONE_SEGMENT,
};
const M2M = {
  ...{ bos_token: '<s>', eos_token: '</s>', sep_token: '</s>', unk_token: '<unk>', pad_token: '<pad>' },
  ...ONE_SEGMENT,
};
const SPEECHT5 = {
  ...{ bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>', pad_token: '<pad>' },
  ...ONE_SEGMENT,
};
const MARIAN = { ...{ eos_token: '</s>', unk_token: '<unk>', pad_token: '<pad>' }, ...ONE_SEGMENT };

/** By Python's class, less `Tokenizer`. */
const FAMILIES: [names: RegExp, family: TokenizerFamily][] = [
  [/^MPNet$/, { bert: 'letters', config: { ...ROBERTA, ...ONE_SEGMENT, unk_token: '[UNK]' } }],
  [/^Funnel$/, { bert: 'all', config: XLNET }],
  [/^(Splinter|RoFormer)$/, { bert: 'letters', config: BERT }],
  [/^DistilBert$/, { bert: 'all', config: { ...BERT, ...ONE_SEGMENT } }],
  [
    /^(Bert|Electra|MobileBert|ConvBert|Lxmert|SqueezeBert|RetriBert|LayoutLM|LayoutLMv2|DPR\w*)$/,
    { bert: 'all', config: BERT },
  ],
  [
    /^(Roberta|Bart|Longformer|LED|LayoutLMv3|Blenderbot|Mvp)$/,
    { trims: true, config: { ...ROBERTA, ...ONE_SEGMENT } },
  ],
  [/^(XLMRoberta|Camembert|MBart|MBart50|Barthez|Nllb|PLBart)$/, { config: { ...ROBERTA, ...ONE_SEGMENT } }],
  [/^(Albert|RemBert|FNet)$/, { config: ALBERT }],
  [/^BigBird$/, { config: { ...ALBERT, ...ONE_SEGMENT, bos_token: '<s>', eos_token: '</s>' } }],
  [/^Deberta(V2)?$/, { config: { ...ALBERT, unk_token: '[UNK]', pad_token: '[PAD]' } }],
  [/^XLNet$/, { config: { ...XLNET, padding_side: 'left', pad_token_type_id: 3 } }],
  [/^(Code)?Llama$/, { frame: { bos: true }, config: LLAMA }],
  [/^Siglip2$/, { lowers: true, config: GEMMA }],
  [/^Gemma$/, { frame: { bos: true }, config: GEMMA }],
  [/^Cohere$/, { frame: { bos: true }, config: COHERE }],
  [/^GPTNeoX$/, { frame: { bos: false }, config: GPT }],
  [/^(GPT2|CodeGen|Whisper)$/, { config: GPT }],
  [/^Qwen2$/, { pieces: tiktokenPieces({ digits: ONE_DIGIT }), config: QWEN }],
  [/^Qwen3_5$/, { pieces: tiktokenPieces({ digits: ONE_DIGIT, marks: true }), config: QWEN }],
  [/^(T5|MT5)$/, { config: T5 }],
  [/^M2M100$/, { config: M2M }],
  [/^(SpeechT5|Speech2Text)$/, { config: SPEECHT5 }],
  [/^Pegasus$/, { config: PEGASUS }],
  [/^BlenderbotSmall$/, { config: BLENDERBOT_SMALL }],
  [/^Bloom$/, { config: BLOOM }],
  // One list of ids for two languages: conversions give what only the other one has a score that stands for none.
  [/^Marian$/, { foreignScore: -100, config: MARIAN }],
];

export function tokenizerFamily({
  config,
  model,
}: Pick<TokenizerFiles, 'config' | 'model'>): TokenizerFamily {
  const name = tokenizerClassOf(config, model);
  return FAMILIES.find(([names]) => names.test(name))?.[1] ?? {};
}
