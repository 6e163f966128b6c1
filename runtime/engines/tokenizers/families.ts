import type { Json } from '../repository/model-folder.js';
import type { TokenizerFiles } from './tokenizer-json.js';

/** What one of transformers' tokenizer classes knows by itself. */
export interface TokenizerFamily {
  /** The class sets lower case and accents itself; `all`: Chinese characters, too. */
  bert?: 'letters' | 'all';
  /** The class builds its post-processor from add_bos_token (this default) and add_eos_token (false). */
  frame?: { bos: boolean };
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
const MARIAN = { ...{ eos_token: '</s>', unk_token: '<unk>', pad_token: '<pad>' }, ...ONE_SEGMENT };

/** By the class that tokenizer_config.json names, else by the model type. */
const FAMILIES: [names: RegExp, models: RegExp, family: TokenizerFamily][] = [
  [/^MPNet$/, /^mpnet$/, { bert: 'letters', config: { ...ROBERTA, ...ONE_SEGMENT, unk_token: '[UNK]' } }],
  [/^Funnel$/, /^funnel$/, { bert: 'all', config: XLNET }],
  [/^(Splinter|RoFormer)$/, /^(splinter|roformer)$/, { bert: 'letters', config: BERT }],
  [/^DistilBert$/, /^distilbert$/, { bert: 'all', config: { ...BERT, ...ONE_SEGMENT } }],
  [
    /^(Bert|Electra|MobileBert|ConvBert|Lxmert|SqueezeBert|RetriBert|LayoutLM|LayoutLMv2|DPR\w*)$/,
    /^(bert|electra|mobilebert|convbert|lxmert|squeezebert|layoutlm|layoutlmv2|dpr|ernie|megatron-bert|nezha)$/,
    { bert: 'all', config: BERT },
  ],
  [
    /^(Roberta|Bart|Longformer|LED|LayoutLMv3|Blenderbot|Mvp)$/,
    /^(roberta|bart|longformer|led|data2vec-text|roberta-prelayernorm|ibert)$/,
    { trims: true, config: { ...ROBERTA, ...ONE_SEGMENT } },
  ],
  [
    /^(XLMRoberta|Camembert|MBart|MBart50|Barthez|Nllb)$/,
    /^(xlm-roberta|xlm-roberta-xl|camembert|mbart|xmod|nllb-moe)$/,
    { config: { ...ROBERTA, ...ONE_SEGMENT } },
  ],
  [/^(Albert|RemBert|FNet)$/, /^(albert|rembert|fnet)$/, { config: ALBERT }],
  [/^BigBird$/, /^big_bird$/, { config: { ...ALBERT, ...ONE_SEGMENT, bos_token: '<s>', eos_token: '</s>' } }],
  [/^Deberta(V2)?$/, /^deberta(-v2)?$/, { config: { ...ALBERT, unk_token: '[UNK]', pad_token: '[PAD]' } }],
  [/^XLNet$/, /^xlnet$/, { config: { ...XLNET, padding_side: 'left', pad_token_type_id: 3 } }],
  [
    /^(Code)?Llama$/,
    /^(llama|code_llama|mistral|mixtral|ministral|phi3|phimoe|persimmon|jamba)$/,
    { frame: { bos: true }, config: LLAMA },
  ],
  [/^Gemma$/, /^(gemma|gemma2|gemma3|gemma3_text|recurrent_gemma)$/, { frame: { bos: true }, config: GEMMA }],
  [/^Cohere$/, /^cohere2?$/, { frame: { bos: true }, config: COHERE }],
  [/^GPTNeoX$/, /^(gpt_neox|olmo|olmo2|olmoe|stablelm|mpt)$/, { frame: { bos: false }, config: GPT }],
  [/^(GPT2|CodeGen|Whisper)$/, /^(gpt2|gpt_neo|gptj|gpt_bigcode|codegen|opt|whisper)$/, { config: GPT }],
  [/^Qwen2$/, /^(qwen2|qwen3|qwen2_moe|qwen3_moe)$/, { config: QWEN }],
  [/^(T5|MT5)$/, /^(t5|mt5|umt5|longt5|switch_transformers)$/, { config: T5 }],
  [/^M2M100$/, /^m2m_100$/, { config: M2M }],
  [/^Pegasus$/, /^(pegasus|bigbird_pegasus)$/, { config: PEGASUS }],
  [/^Bloom$/, /^bloom$/, { config: BLOOM }],
  // One list of ids for two languages: conversions give what only the other one has a score that stands for none.
  [/^Marian$/, /^marian$/, { foreignScore: -100, config: MARIAN }],
];

export function tokenizerFamily({ config, model }: TokenizerFiles): TokenizerFamily {
  const written = config['tokenizer_class'] ?? model?.['tokenizer_class'];
  const name = String(written ?? '').replace(/Tokenizer(Fast)?$/, '');
  const type = String(model?.['model_type'] ?? '');
  const found = FAMILIES.find(([names, models]) => (written ? names.test(name) : models.test(type)));
  return found?.[2] ?? {};
}
