import { floatsOf } from '../../../runtime/weights/index.js';
import { expertStacks, isStack } from './gpt-oss.js';
import type { ModelTensor } from './model-tensor.js';
import { quantise } from './quantise.js';
import { type GgufToWrite, type TensorToWrite, type Typed, writeGguf } from './write-gguf.js';

export type { ModelTensor } from './model-tensor.js';

export interface ModelToWrite {
  /** config.json */
  config: Readonly<Record<string, unknown>>;
  tensors: ReadonlyMap<string, ModelTensor>;
  /** Of matrices whose rows are whole blocks; F32 if absent. */
  type?: string | undefined;
  /** A classifier's head and the dense layer before it, which the converter leaves out of plain BERTs. */
  head?: boolean | undefined;
  /** Over what is written of the configuration. */
  metadata?: GgufToWrite['metadata'];
}

/** What llama.cpp calls the parts of layers, by the families that differ (gguf-py, TensorNameMap). */
const PARTS: readonly (readonly [name: RegExp, to: string, types?: RegExp])[] = [
  [/^input_layernorm$/, 'attn_norm'],
  [/^self_attn\.([qkv])_proj$/, 'attn_$1'],
  [/^self_attn\.o_proj$/, 'attn_output'],
  [/^self_attn\.qkv_proj$/, 'attn_qkv'],
  [/^self_attn\.([qk])_norm$/, 'attn_$1_norm'],
  [/^pre_feedforward_layernorm$/, 'ffn_norm'],
  [/^post_attention_layernorm$/, 'post_attention_norm', /^(?:gemma[23]|olmo[23]|exaone4|seed_oss|gpt_oss)/],
  [/^self_attn\.sinks$/, 'attn_sinks'],
  [/^post_attention_layernorm$/, 'ffn_norm'],
  [/^post_feedforward_layernorm$/, 'post_ffw_norm'],
  [/^post_self_attn_layernorm$/, 'post_attention_norm'],
  [/^post_mlp_layernorm$/, 'post_ffw_norm'],
  [/^mlp\.c_fc$/, 'ffn_up'],
  [/^mlp\.c_proj$/, 'ffn_down'],
  [/^mlp\.gate_up_proj$/, 'ffn_up'],
  [/^mlp\.(gate|up|down)_proj$/, 'ffn_$1'],
  [/^(?:mlp|block_sparse_moe)\.(?:gate|router)$/, 'ffn_gate_inp'],
  [/^attention\.self\.(q|k|v)(?:uery|ey|alue)$/, 'attn_$1'],
  [/^attention\.output\.dense$/, 'attn_output'],
  [/^attention\.output\.LayerNorm$/, 'attn_output_norm'],
  [/^intermediate\.dense$/, 'ffn_up'],
  [/^output\.dense$/, 'ffn_down'],
  [/^output\.LayerNorm$/, 'layer_output_norm'],
];

const WHOLE: Readonly<Record<string, string>> = {
  'model.embed_tokens': 'token_embd',
  'model.norm': 'output_norm',
  lm_head: 'output',
  'embeddings.word_embeddings': 'token_embd',
  'embeddings.position_embeddings': 'position_embd',
  'embeddings.token_type_embeddings': 'token_types',
  'embeddings.LayerNorm': 'token_embd_norm',
  'pooler.dense': 'cls',
  classifier: 'cls.output',
};

const EXPERT = /^model\.layers\.(\d+)\.(?:mlp|block_sparse_moe)\.experts\.(\d+)\.(\w+?)(?:_proj)?\.weight$/;
const IN_STACK: Readonly<Record<string, string>> = { w1: 'gate', w2: 'down', w3: 'up' };

export function ggufNameOf(name: string, modelType: string): string {
  const [, whole = '', ending] = /^(?:bert\.)?(.+)\.(weight|bias)$/.exec(name) ?? ['', name, 'weight'];
  if (WHOLE[whole] !== undefined) return `${WHOLE[whole]}.${ending}`;
  const [, layer, part = ''] = /^(?:model\.layers|encoder\.layer)\.(\d+)\.(.+)$/.exec(whole)!;
  const [pattern, to] = PARTS.find(([one, , types]) => one.test(part) && (!types || types.test(modelType)))!;
  return `blk.${layer}.${part.replace(pattern, to)}.${ending}`;
}

const ARCHITECTURES: Readonly<Record<string, string>> = {
  gemma3_text: 'gemma3',
  qwen3_moe: 'qwen3moe',
  gpt_oss: 'gpt-oss',
  mixtral: 'llama',
  mistral: 'llama',
  ministral3: 'mistral3',
  olmo3: 'olmo2',
};

/** What llama.cpp calls models of a type. */
export const architectureOf = (modelType: string): string => ARCHITECTURES[modelType] ?? modelType;

/** As llama.cpp's converter writes a model, with a vocabulary of single letters. */
export function ggufOfModel({
  config,
  tensors,
  type = 'F32',
  head = false,
  metadata = {},
}: ModelToWrite): Buffer {
  const modelType = String(config['model_type']);
  const architecture = architectureOf(modelType);
  return writeGguf({
    metadata: {
      'general.architecture': architecture,
      ...metadataOf(config, architecture),
      ...vocabulary(Number(config['vocab_size'])),
      ...metadata,
    },
    tensors: [
      ...singles(tensors, { config, type, architecture, head }),
      ...stacks(tensors, type),
      ...expertStacks(tensors).map(({ name, shape, values }) => tensorOf(name, shape, values, type)),
      ...factors(config),
    ],
  });
}

/** Factors of frequencies, which the converter writes as tensors. */
function factors({ rope_scaling: scaling }: ModelToWrite['config']): TensorToWrite[] {
  const given = (scaling ?? {}) as Record<string, unknown>;
  return (['long', 'short'] as const).flatMap((length) => {
    const values = given[`${length}_factor`];
    if (!Array.isArray(values)) return [];
    const data = quantise(Float32Array.from(values as number[]), 'F32');
    return [{ name: `rope_factors_${length}.weight`, shape: [values.length], type: 'F32', data }];
  });
}

interface Writing {
  head: boolean;
  config: ModelToWrite['config'];
  type: string;
  architecture: string;
}

/** Parts of heads that are no parts of a model of vectors. */
const HEAD = /^(?:bert\.pooler|classifier|cls)\./;

function singles(
  tensors: ModelToWrite['tensors'],
  { config, type, architecture, head }: Writing,
): TensorToWrite[] {
  const modelType = String(config['model_type']);
  return [...tensors]
    .filter(([name]) => !EXPERT.test(name) && !isStack(name) && (head || !HEAD.test(name)))
    .map(([name, { bytes, shape, type: stored }]) => {
      const own = ggufNameOf(name, modelType);
      let values = floatsOf(bytes, stored);
      if (/^(?:gemma|nemotron)/.test(architecture) && own.endsWith('norm.weight'))
        values = values.map((value) => value + 1);
      const heads = headsOf(config, architecture, own);
      if (heads !== undefined) values = inPairs(values, shape[0]!, heads);
      return tensorOf(own, shape, values, type);
    });
}

function tensorOf(name: string, shape: readonly number[], values: Float32Array, type: string): TensorToWrite {
  const isMatrix =
    shape.length > 1 && !/^(?:position_embd|token_types)/.test(name) && !/_inp\.|\.bias$/.test(name);
  const fits = isMatrix && (shape.at(-1)! % 32 === 0 || !type.startsWith('Q'));
  const own = fits ? type : 'F32';
  return { name, shape, type: own, data: quantise(values, own) };
}

const PAIRED = ['llama', 'mistral3', 'granite', 'smollm3', 'arcee'];

/** Heads of a matrix whose rows the converter puts in pairs. */
function headsOf(config: ModelToWrite['config'], architecture: string, name: string): number | undefined {
  const [, part] = /attn_([qk])\.(?:weight|bias)$/.exec(name) ?? [];
  if (part === undefined || !PAIRED.includes(architecture)) return undefined;
  return Number(config[part === 'q' ? 'num_attention_heads' : 'num_key_value_heads']);
}

/** LlamaModel.permute of the converter. */
export function inPairs(values: Float32Array, rows: number, heads: number): Float32Array {
  const [width, each] = [rows / heads, values.length / rows];
  const found = new Float32Array(values.length);
  for (let head = 0; head < heads; head++)
    for (let side = 0; side < 2; side++)
      for (let i = 0; i < width / 2; i++) {
        const from = head * width + side * (width / 2) + i;
        found.set(values.subarray(from * each, (from + 1) * each), (head * width + 2 * i + side) * each);
      }
  return found;
}

/** The experts of a layer, one after the other. */
function stacks(tensors: ModelToWrite['tensors'], type: string): TensorToWrite[] {
  const found = new Map<string, { shape: readonly number[]; parts: Float32Array[] }>();
  for (const [name, { bytes, shape, type: stored }] of tensors) {
    const [, layer, expert, part = ''] = EXPERT.exec(name) ?? [];
    if (layer === undefined) continue;
    const own = `blk.${layer}.ffn_${IN_STACK[part] ?? part}_exps.weight`;
    const stack = found.get(own) ?? { shape, parts: [] };
    stack.parts[Number(expert)] = floatsOf(bytes, stored);
    found.set(own, stack);
  }
  return [...found].map(([name, { shape, parts }]) => {
    const values = Float32Array.from(parts.flatMap((part) => [...part]));
    return tensorOf(name, [parts.length, ...shape], values, type);
  });
}

const KEYS: readonly (readonly [field: string, key: string, type: 'u32' | 'f32'])[] = [
  ['hidden_size', 'embedding_length', 'u32'],
  ['intermediate_size', 'feed_forward_length', 'u32'],
  ['num_hidden_layers', 'block_count', 'u32'],
  ['num_attention_heads', 'attention.head_count', 'u32'],
  ['num_key_value_heads', 'attention.head_count_kv', 'u32'],
  ['head_dim', 'attention.key_length', 'u32'],
  ['head_dim', 'attention.value_length', 'u32'],
  ['max_position_embeddings', 'context_length', 'u32'],
  ['rms_norm_eps', 'attention.layer_norm_rms_epsilon', 'f32'],
  ['layer_norm_eps', 'attention.layer_norm_epsilon', 'f32'],
  ['norm_epsilon', 'attention.layer_norm_epsilon', 'f32'],
  ['norm_eps', 'attention.layer_norm_epsilon', 'f32'],
  ['logit_scale', 'logit_scale', 'f32'],
  ['rope_theta', 'rope.freq_base', 'f32'],
  ['rope_local_base_freq', 'rope.freq_base_swa', 'f32'],
  ['sliding_window', 'attention.sliding_window', 'u32'],
  ['attn_logit_softcapping', 'attn_logit_softcapping', 'f32'],
  ['final_logit_softcapping', 'final_logit_softcapping', 'f32'],
  ['num_local_experts', 'expert_count', 'u32'],
  ['num_experts', 'expert_count', 'u32'],
  ['num_experts_per_tok', 'expert_used_count', 'u32'],
  ['moe_intermediate_size', 'expert_feed_forward_length', 'u32'],
  ['original_max_position_embeddings', 'rope.scaling.original_context_length', 'u32'],
  ['attention_multiplier', 'attention.scale', 'f32'],
  ['embedding_multiplier', 'embedding_scale', 'f32'],
  ['residual_multiplier', 'residual_scale', 'f32'],
  ['logits_scaling', 'logit_scale', 'f32'],
];

/** Fields of scaled positions, all numbers of 32 bits. */
const SCALED: readonly (readonly [field: string, key: string])[] = [
  ['beta_fast', 'rope.scaling.yarn_beta_fast'],
  ['beta_slow', 'rope.scaling.yarn_beta_slow'],
  ['attention_factor', 'rope.scaling.yarn_attn_factor'],
  ['mscale_all_dim', 'rope.scaling.yarn_log_multiplier'],
  ['llama_4_scaling_beta', 'attention.temperature_scale'],
];

/** What attention grows by where positions have factors, as the converter writes it. */
function growth(config: ModelToWrite['config']): number {
  const [most, first] = ['max_position_embeddings', 'original_max_position_embeddings'].map((field) =>
    Number(config[field]),
  );
  return Math.sqrt(1 + Math.log(most! / first!) / Math.log(first!));
}

function metadataOf(config: ModelToWrite['config'], architecture: string): Record<string, Typed> {
  const entries = KEYS.flatMap(([field, key, type]) => {
    const value = config[field];
    return typeof value === 'number' ? [[`${architecture}.${key}`, { type, value }] as const] : [];
  });
  const scaling = config['rope_scaling'] as Record<string, unknown> | null | undefined;
  const own = (key: string) => `${architecture}.rope.scaling.${key}`;
  // Of factors that are tensors the type is not written.
  const stretched: [string, Typed][] =
    scaling && !('long_factor' in scaling)
      ? [
          [own('type'), { type: 'string', value: String(scaling['rope_type']) }],
          [own('factor'), { type: 'f32', value: Number(scaling['factor']) }],
          [
            own('original_context_length'),
            { type: 'u32', value: Number(scaling['original_max_position_embeddings'] ?? 0) },
          ],
        ]
      : [];
  if (scaling && 'long_factor' in scaling)
    stretched.push([own('attn_factor'), { type: 'f32', value: growth(config) }]);
  for (const [field, key] of SCALED) {
    const value = scaling?.[field];
    if (typeof value === 'number') stretched.push([`${architecture}.${key}`, { type: 'f32', value }]);
  }
  const partial = Number(config['partial_rotary_factor'] ?? NaN);
  const head = Number(
    config['head_dim'] ?? Number(config['hidden_size']) / Number(config['num_attention_heads']),
  );
  const rotated: [string, Typed][] = Number.isNaN(partial)
    ? []
    : [[`${architecture}.rope.dimension_count`, { type: 'u32', value: partial * head }]];
  const slides = config['layer_types'] as string[] | undefined;
  const pattern: [string, Typed][] =
    ['gemma3', 'olmo2', 'exaone4'].includes(architecture) && slides && config['sliding_window'] !== null
      ? [
          [
            `${architecture}.attention.sliding_window_pattern`,
            { type: 'list', of: 'bool', value: slides.map((one) => one === 'sliding_attention') },
          ],
        ]
      : [];
  const experts: [string, Typed][] =
    architecture === 'gpt-oss'
      ? [
          [
            `${architecture}.expert_feed_forward_length`,
            { type: 'u32', value: Number(config['intermediate_size']) },
          ],
        ]
      : [];
  return Object.fromEntries([...entries, ...stretched, ...rotated, ...pattern, ...experts]);
}

/** Tokens of bytes, as GPT-2 writes them, as far as there is room. */
function vocabulary(size: number): Record<string, Typed> {
  const tokens = Array.from({ length: size }, (_, i) =>
    i < 3 ? `<${i}>` : i < 97 ? String.fromCharCode(30 + i) : `t${i}`,
  );
  const kinds = tokens.map((_, i) => (i < 3 ? 3 : 1));
  return {
    'tokenizer.ggml.model': { type: 'string', value: 'gpt2' },
    'tokenizer.ggml.pre': { type: 'string', value: 'gpt-2' },
    'tokenizer.ggml.tokens': { type: 'list', of: 'string', value: tokens },
    'tokenizer.ggml.token_type': { type: 'list', of: 'i32', value: kinds },
    'tokenizer.ggml.merges': { type: 'list', of: 'string', value: [] },
    'tokenizer.ggml.bos_token_id': { type: 'u32', value: 1 },
    'tokenizer.ggml.eos_token_id': { type: 'u32', value: 2 },
  };
}
