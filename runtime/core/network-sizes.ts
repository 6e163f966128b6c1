/** Sizes of a network from config.json, where model families use different names. */
export interface NetworkSizes {
  /** Vocabulary entries. */
  vocabulary: number;
  /** Width of the hidden states. */
  hidden: number;
  /** Width of the feed-forward layers. */
  intermediate: number;
  layers: number;
  heads: number;
  /** Longest input in tokens. */
  positions: number;
  /** Width of a layer's keys over all heads; the same for values. */
  keys: number;
  /** Layers that keep keys and values, where others keep a state of fixed size; all of them if absent. */
  keyLayers?: number;
  /** Tokens of an image: one per patch, and one more. */
  patches: number;
  /** Of models that read more than text: the encoders of pictures and of sounds. */
  vision?: VisionSizes;
  audio?: VisionSizes;
}

/** Sizes of an encoder of media; `patches` is 0 where pictures keep their size, and the steps of a window of sound. */
export interface VisionSizes extends Pick<NetworkSizes, 'hidden' | 'intermediate' | 'heads' | 'patches'> {
  /** Attention has a mask or a bias, or may have: with one, kernels hold all scores at a time. */
  masked: boolean;
}

const NAMES: Record<
  Exclude<keyof NetworkSizes, 'keys' | 'keyLayers' | 'patches' | 'vision' | 'audio'>,
  readonly string[]
> = {
  vocabulary: ['vocab_size'],
  hidden: ['hidden_size', 'd_model', 'n_embd', 'dim'],
  intermediate: ['intermediate_size', 'encoder_ffn_dim', 'd_ff', 'ffn_dim', 'n_inner', 'hidden_dim'],
  layers: ['num_hidden_layers', 'encoder_layers', 'n_layer', 'n_layers', 'num_layers'],
  heads: [
    ...['num_attention_heads', 'encoder_attention_heads', 'encoder_num_attention_heads'],
    ...['n_head', 'n_heads', 'num_heads'],
  ],
  positions: ['max_position_embeddings', 'n_positions', 'n_ctx'],
};

/** Reads the sizes; 0 for unknown ones. */
export function sizesOf(config: Readonly<Record<string, unknown>>): NetworkSizes {
  const inner = innerText(config);
  const find = (names: readonly string[]) =>
    names.map((name) => Number(config[name] ?? inner[name])).find((value) => value > 0) ?? 0;
  const [hidden, heads] = [find(NAMES.hidden), find(NAMES.heads)];
  const headWidth = find(['head_dim', 'd_kv']) || (heads && hidden / heads);
  return {
    vocabulary: find(NAMES.vocabulary),
    hidden,
    intermediate: find(NAMES.intermediate),
    layers: find(NAMES.layers),
    heads,
    positions: find(NAMES.positions),
    keys: (find(['num_key_value_heads']) || heads) * headWidth,
    patches: patchesOf(find(['image_size']), find(['patch_size'])),
    ...keyLayersOf({ ...config, ...inner }),
    ...visionOf(config),
    ...audioOf(config),
  };
}

/** Layers that convolutions and recurrences take the place of attention in. */
const STATE_LAYERS = new Set(['conv', 'mamba', 'linear_attention']);

function keyLayersOf(config: Readonly<Record<string, unknown>>): Pick<NetworkSizes, 'keyLayers'> {
  const { layer_types: types, attn_layer_indices: indices, model_type: type } = config;
  if (type === 'mamba2') return { keyLayers: 0 };
  if (type === 'gemma4_text') return { keyLayers: unevenKeyLayers(config) };
  if (type === 'bamba') return { keyLayers: Array.isArray(indices) ? indices.length : 0 };
  if (!Array.isArray(types) || !types.some((each) => STATE_LAYERS.has(each as string))) return {};
  return { keyLayers: types.filter((each) => !STATE_LAYERS.has(each as string)).length };
}

/** Gemma 4's layers in layers of the usual width: the last ones have no keys of their own, those that attend to all wider ones. */
function unevenKeyLayers(config: Readonly<Record<string, unknown>>): number {
  const number = (value: unknown, usual: number) => (typeof value === 'number' && value > 0 ? value : usual);
  const [heads, width] = [number(config['num_key_value_heads'], 4), number(config['head_dim'], 256)];
  const layers = number(config['num_hidden_layers'], 30) - number(config['num_kv_shared_layers'], 0);
  const types = Array.isArray(config['layer_types']) ? (config['layer_types'] as unknown[]) : [];
  const own = config['per_layer_config'] as Record<string, Record<string, unknown>> | undefined;
  const full: Record<string, unknown> = { head_dim: config['global_head_dim'] ?? 512 };
  const sizes = Array.from({ length: Math.min(1024, Math.max(0, layers)) }, (_, i) => {
    const found = own ? own[String(i)] : types[i] === 'full_attention' ? full : undefined;
    return number(found?.['head_dim'], width) * number(found?.['num_key_value_heads'], heads);
  });
  return sizes.reduce((sum, one) => sum + one, 0) / (heads * width);
}

/**
 * What Python's classes take for sizes that configurations of texts inside of others leave out, by their type. Heads of
 * keys are as many as heads where none are named.
 */
const TEXT: Record<string, Readonly<Record<string, number>>> = {
  llama: textSizes({ vocabulary: 32_000, hidden: 4096, intermediate: 11_008, layers: 32, heads: 32 }),
  mistral: {
    ...textSizes({ vocabulary: 32_000, hidden: 4096, intermediate: 14_336, layers: 32, heads: 32 }),
    num_key_value_heads: 8,
  },
  qwen2: {
    ...textSizes({ vocabulary: 151_936, hidden: 4096, intermediate: 22_016, layers: 32, heads: 32 }),
    num_key_value_heads: 32,
  },
  qwen3: {
    ...textSizes({ vocabulary: 151_936, hidden: 4096, intermediate: 22_016, layers: 32, heads: 32 }),
    ...{ num_key_value_heads: 32, head_dim: 128 },
  },
  qwen3_vl_text: {
    ...textSizes({ vocabulary: 151_936, hidden: 4096, intermediate: 22_016, layers: 32, heads: 32 }),
    ...{ num_key_value_heads: 32, head_dim: 128 },
  },
  qwen3_vl_moe_text: {
    ...textSizes({ vocabulary: 151_936, hidden: 2048, intermediate: 5632, layers: 24, heads: 16 }),
    num_key_value_heads: 16,
  },
  cohere2: textSizes({ vocabulary: 256_000, hidden: 8192, intermediate: 22_528, layers: 40, heads: 64 }),
  gemma: {
    ...textSizes({ vocabulary: 256_000, hidden: 3072, intermediate: 24_576, layers: 28, heads: 16 }),
    ...{ num_key_value_heads: 16, head_dim: 256 },
  },
  gemma2: {
    ...textSizes({ vocabulary: 256_000, hidden: 2304, intermediate: 9216, layers: 26, heads: 8 }),
    ...{ num_key_value_heads: 4, head_dim: 256 },
  },
  gemma3_text: {
    ...textSizes({ vocabulary: 262_208, hidden: 2304, intermediate: 9216, layers: 26, heads: 8 }),
    ...{ num_key_value_heads: 4, head_dim: 256 },
  },
};

function textSizes(sizes: Record<'vocabulary' | 'hidden' | 'intermediate' | 'layers' | 'heads', number>) {
  return {
    vocab_size: sizes.vocabulary,
    hidden_size: sizes.hidden,
    intermediate_size: sizes.intermediate,
    num_hidden_layers: sizes.layers,
    num_attention_heads: sizes.heads,
  };
}

function innerText({ text_config: own }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (typeof own !== 'object' || own === null) return {};
  const given = own as Record<string, unknown>;
  return { ...TEXT[String(given['model_type'])], ...given };
}

/** What Python's classes take for sizes that a file leaves out, by the model's type. */
const VISION: Record<string, { hidden: number; intermediate: number; heads: number }> = {
  idefics3: { hidden: 1152, intermediate: 3072, heads: 16 },
  smolvlm: { hidden: 1152, intermediate: 3072, heads: 16 },
  qwen2_vl: { hidden: 1280, intermediate: 5120, heads: 16 },
  qwen2_5_vl: { hidden: 3584, intermediate: 3420, heads: 16 },
  qwen3_vl: { hidden: 1152, intermediate: 4304, heads: 16 },
  qwen3_vl_moe: { hidden: 1152, intermediate: 4304, heads: 16 },
  paddleocr_vl: { hidden: 1152, intermediate: 4304, heads: 16 },
  qwen3_5: { hidden: 1152, intermediate: 4304, heads: 16 },
  mistral3: { hidden: 1024, intermediate: 4096, heads: 16 },
  lighton_ocr: { hidden: 1024, intermediate: 4096, heads: 16 },
  internvl: { hidden: 1024, intermediate: 4096, heads: 16 },
};
/**
 * Models whose pictures were measured to be read without all scores at a time, as nothing is added to those (bench/chat-networks.py);
 * encoders that see windows do add a mask.
 */
const UNMASKED = new Set([
  'llava',
  'mistral3',
  'lighton_ocr',
  'qwen3_vl',
  'qwen3_vl_moe',
  'qwen3_5',
  'paddleocr_vl',
]);
/** CLIP and SigLIP. */
const USUAL = { hidden: 768, intermediate: 3072, heads: 12 };

function visionOf(config: Readonly<Record<string, unknown>>): { vision?: VisionSizes } {
  const own = config['vision_config'];
  if (typeof own !== 'object' || own === null) return {};
  const find = (...names: string[]) =>
    names.map((name) => edgeOf((own as Record<string, unknown>)[name])).find((value) => value > 0);
  const usual = VISION[String(config['model_type'])] ?? USUAL;
  // Qwen2-VL's `hidden_size` is the width of the language model.
  const hidden = find('embed_dim', 'hidden_size') ?? usual.hidden;
  const ratio = find('mlp_ratio');
  return {
    vision: {
      hidden,
      intermediate: find('intermediate_size') ?? (ratio ? ratio * hidden : usual.intermediate),
      heads: find('num_attention_heads', 'num_heads') ?? usual.heads,
      patches: patchesOf(find('image_size') ?? 0, find('patch_size') ?? 0),
      masked: find('window_size') !== undefined || !UNMASKED.has(String(config['model_type'])),
    },
  };
}

/** Some write edges as height and width. */
const edgeOf = (value: unknown): number => Number(Array.isArray(value) ? value[0] : value);

/** Whisper's large encoder, which most models of sounds have. */
const WHISPER = { hidden: 1280, intermediate: 5120, heads: 20, patches: 1500 };

function audioOf(config: Readonly<Record<string, unknown>>): { audio?: VisionSizes } {
  const own = config['audio_config'];
  if (typeof own !== 'object' || own === null) return {};
  const find = (...names: string[]) =>
    names.map((name) => Number((own as Record<string, unknown>)[name])).find((value) => value > 0);
  return {
    audio: {
      hidden: find('hidden_size', 'd_model') ?? WHISPER.hidden,
      intermediate: find('intermediate_size', 'encoder_ffn_dim') ?? WHISPER.intermediate,
      heads: find('num_attention_heads', 'encoder_attention_heads') ?? WHISPER.heads,
      patches: find('max_source_positions') ?? WHISPER.patches,
      masked: true,
    },
  };
}

function patchesOf(edge: number, patch: number): number {
  return edge > 0 && patch > 0 ? Math.floor(edge / patch) ** 2 + 1 : 0;
}
