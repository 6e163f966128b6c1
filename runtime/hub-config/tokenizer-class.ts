import { modelTypeOf } from './json.js';
import { transformersMajor } from './version.js';

type Json = Readonly<Record<string, unknown>>;

/** Types of models by the class that transformers' AutoTokenizer takes for them (TOKENIZER_MAPPING_NAMES), less `Tokenizer`. */
const TYPES: Readonly<Record<string, string>> = {
  Albert: 'albert',
  Bart: 'bart',
  Bert: 'bert ernie megatron-bert nezha',
  BigBird: 'big_bird',
  Blenderbot: 'blenderbot',
  BlenderbotSmall: 'blenderbot-small',
  Bloom: 'bloom',
  Camembert: 'camembert',
  CodeGen: 'codegen',
  CodeLlama: 'code_llama',
  Cohere: 'cohere cohere2',
  ConvBert: 'convbert',
  DPRQuestionEncoder: 'dpr',
  Deberta: 'deberta',
  DebertaV2: 'deberta-v2',
  DistilBert: 'distilbert',
  Electra: 'electra',
  FNet: 'fnet',
  Funnel: 'funnel',
  GPT2: 'gpt2 gpt_bigcode gpt_neo gptj opt',
  GPTNeoX: 'gpt_neox mpt olmo olmo2 olmoe stablelm',
  Gemma: 'gemma gemma2 gemma3 gemma3_text recurrent_gemma',
  LED: 'led',
  LayoutLM: 'layoutlm',
  LayoutLMv2: 'layoutlmv2',
  LayoutLMv3: 'layoutlmv3',
  Llama: 'jamba llama ministral mistral mixtral persimmon phi3 phimoe',
  Longformer: 'longformer',
  Lxmert: 'lxmert',
  M2M100: 'm2m_100',
  MBart: 'mbart',
  MBart50: 'mbart50',
  MPNet: 'mpnet',
  MT5: 'mt5',
  Marian: 'marian',
  MobileBert: 'mobilebert',
  Mvp: 'mvp',
  Nllb: 'nllb-moe',
  PLBart: 'plbart',
  Pegasus: 'bigbird_pegasus pegasus',
  Qwen2: 'qwen2 qwen2_moe qwen3 qwen3_moe',
  RemBert: 'rembert',
  RoFormer: 'roformer',
  Roberta: 'data2vec-text ibert roberta roberta-prelayernorm',
  Splinter: 'splinter',
  Speech2Text: 'speech_to_text',
  SpeechT5: 'speecht5',
  SqueezeBert: 'squeezebert',
  T5: 'longt5 switch_transformers t5 umt5',
  Whisper: 'whisper',
  XLMRoberta: 'xlm-roberta xlm-roberta-xl xmod',
  XLNet: 'xlnet',
};

/** Types whose own class version 5 takes whatever their files say (MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS, where it has one). */
const OVER_FILES = new Map([
  ['qwen2', 'Qwen2'],
  ...['qwen3_5', 'qwen3_5_moe', 'qwen3_5_moe_text'].map((type) => [type, 'Qwen3_5'] as const),
  ['siglip2', 'Siglip2'],
]);

/**
 * Whether transformers 5 wrote the files of a tokenizer.
 * @param settings tokenizer_config.json
 * @param config config.json
 */
export const isSavedByVersion5 = (settings: Json | undefined, config: Json | undefined): boolean =>
  settings?.['tokenizer_class'] === 'TokenizersBackend' || (transformersMajor(config ?? {}) ?? 0) >= 5;

const CLASSES = new Map(
  Object.entries(TYPES).flatMap(([name, types]) => types.split(' ').map((type) => [type, name] as const)),
);

/**
 * Python's class of a tokenizer, less `Tokenizer` or `TokenizerFast`: as the files name it, else by the model's type. Empty where
 * neither says it. In files of version 5 the type goes first where version 5 has it so.
 * @param settings tokenizer_config.json
 * @param config config.json
 */
export function tokenizerClassOf(settings: Json | undefined, config: Json | undefined): string {
  const written = settings?.['tokenizer_class'] ?? config?.['tokenizer_class'];
  if (isSavedByVersion5(settings, config)) {
    const own = OVER_FILES.get(modelTypeOf(config) ?? '');
    if (own !== undefined) return own;
  }
  if (typeof written === 'string' && written !== '') return written.replace(/Tokenizer(Fast)?$/, '');
  return CLASSES.get(modelTypeOf(config) ?? '') ?? '';
}
