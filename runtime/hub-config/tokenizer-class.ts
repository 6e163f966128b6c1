type Json = Readonly<Record<string, unknown>>;

/** Types of models by the class that transformers' AutoTokenizer takes for them (TOKENIZER_MAPPING_NAMES), less `Tokenizer`. */
const TYPES: Readonly<Record<string, string>> = {
  Albert: 'albert',
  Bart: 'bart',
  Bert: 'bert ernie megatron-bert nezha',
  BigBird: 'big_bird',
  Blenderbot: 'blenderbot',
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
  SqueezeBert: 'squeezebert',
  T5: 'longt5 switch_transformers t5 umt5',
  Whisper: 'whisper',
  XLMRoberta: 'xlm-roberta xlm-roberta-xl xmod',
  XLNet: 'xlnet',
};

const CLASSES = new Map(
  Object.entries(TYPES).flatMap(([name, types]) => types.split(' ').map((type) => [type, name] as const)),
);

/**
 * Python's class of a tokenizer, less `Tokenizer` or `TokenizerFast`: as the files name it, else by the model's type. Empty where
 * neither says it. Version 5 takes SigLIP 2's own class whatever its files say (MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS), here where
 * they are of that version.
 * @param settings tokenizer_config.json
 * @param config config.json
 */
export function tokenizerClassOf(settings: Json | undefined, config: Json | undefined): string {
  const written = settings?.['tokenizer_class'] ?? config?.['tokenizer_class'];
  if (written === 'TokenizersBackend' && config?.['model_type'] === 'siglip2') return 'Siglip2';
  if (typeof written === 'string' && written !== '') return written.replace(/Tokenizer(Fast)?$/, '');
  return CLASSES.get(String(config?.['model_type'])) ?? '';
}
