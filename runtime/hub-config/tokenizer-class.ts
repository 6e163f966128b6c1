import { modelTypeOf } from './json.js';
import { transformersMajor } from './version.js';

type Json = Readonly<Record<string, unknown>>;

/** Types of models by the class that transformers' AutoTokenizer takes for them (TOKENIZER_MAPPING_NAMES), less `Tokenizer`. */
const TYPES: Readonly<Record<string, string>> = {
  Albert: 'albert nystromformer yoso',
  Bart: 'bart',
  Bert: 'align bark bert blip bros chinese_clip ernie git grounding-dino megatron-bert mm-grounding-dino nezha vilt visual_bert',
  BigBird: 'big_bird',
  Blenderbot: 'blenderbot',
  BlenderbotSmall: 'blenderbot-small',
  Bloom: 'bloom',
  Camembert: 'camembert',
  CodeGen: 'codegen phi',
  CodeLlama: 'code_llama',
  Cohere: 'aya_vision cohere cohere2',
  ConvBert: 'convbert',
  DPRQuestionEncoder: 'dpr',
  Deberta: 'deberta',
  DebertaV2: 'deberta-v2',
  DistilBert: 'distilbert',
  Electra: 'electra',
  FNet: 'fnet',
  Funnel: 'funnel',
  GPT2: 'blip-2 dbrx emu3 exaone4 flex_olmo gpt2 gpt_bigcode gpt_neo gptj granite granitemoe granitemoehybrid granitemoeshared instructblip instructblipvideo minimax olmo3 opt starcoder2',
  GPTNeoX: 'falcon_mamba gpt_neox mamba mamba2 mpt olmo olmo2 olmoe rwkv stablelm xlstm',
  Gemma: 'gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text recurrent_gemma shieldgemma2 siglip2 t5gemma',
  LED: 'led',
  LayoutLM: 'layoutlm',
  LayoutLMv2: 'layoutlmv2',
  LayoutLMv3: 'layoutlmv3 lilt',
  Llama:
    'arcee aria chameleon colpali deepseek_v2 deepseek_v3 deepseek_vl deepseek_vl_hybrid diffllama ernie4_5 ernie4_5_moe idefics idefics2 idefics3 jamba janus jetmoe llama llama4 llama4_text llava llava_next llava_next_video llava_onevision ministral mistral mistral3 mixtral mllama paligemma persimmon phi3 phimoe video_llava vipllava zamba zamba2',
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
  Nllb: 'nllb nllb-moe',
  PLBart: 'plbart',
  Pegasus: 'bigbird_pegasus pegasus pegasus_x',
  Qwen2:
    'colqwen2 cosmos3_omni internvl qwen2 qwen2_5_omni qwen2_5_vl qwen2_audio qwen2_moe qwen2_vl qwen3 qwen3_moe qwen3_next qwen3_omni_moe qwen3_vl qwen3_vl_moe',
  RemBert: 'rembert',
  RoFormer: 'roformer',
  Roberta: 'bridgetower clap data2vec-text ibert mra roberta roberta-prelayernorm',
  Splinter: 'splinter',
  Speech2Text: 'speech_to_text',
  SpeechT5: 'speecht5',
  SqueezeBert: 'squeezebert',
  T5: 'longt5 musicgen musicgen_melody pix2struct switch_transformers t5 umt5',
  Whisper: 'whisper',
  XLMRoberta: 'kosmos-2 metaclip_2 xlm-roberta xlm-roberta-xl xmod',
  XLNet: 'xlnet',
};

/** Types whose own class version 5 takes whatever their files say (MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS). */
const OVER_FILES = typesOf({
  GPT2: 'hyperclovax_vision_v2',
  Qwen2: 'qwen2',
  Qwen3_5: 'qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen4_exp',
  Siglip2: 'siglip2',
  // No class of their own: tokenizer.json is taken as it is.
  TokenizersBackend:
    'arctic chatlm cohere_asr ernie4_5 ernie4_5_moe fuyu hyperclovax hyperclovax_vlm internlm2 internlm3 iquestcoder jamba llava ' +
    'llava_next minicpm3 minicpmv minimax_m2 modernbert modernbert-decoder molmo molmo2 nemotron paddleocr_vl phi3 phi3_v phimoe ' +
    'smolvlm step3_vl vipllava',
});

/**
 * Whether transformers 5 wrote the files of a tokenizer.
 * @param settings tokenizer_config.json
 * @param config config.json
 */
export const isSavedByVersion5 = (settings: Json | undefined, config: Json | undefined): boolean =>
  settings?.['tokenizer_class'] === 'TokenizersBackend' || (transformersMajor(config ?? {}) ?? 0) >= 5;

/** Classes by their types. */
function typesOf(classes: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const rows = Object.entries(classes);
  return new Map(rows.flatMap(([name, types]) => types.split(' ').map((type) => [type, name] as const)));
}

const CLASSES = typesOf(TYPES);

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
