import type { StoredChange } from '../../../runtime/weights/index.js';
import type { GgufFacts, Json } from './facts.js';
import { type ReadFloats, ropeFields } from './rope.js';
import { rounded } from './rounded.js';

/** How an architecture of llama.cpp is one of transformers. */
export interface GgufArchitecture {
  /** `model_type` of config.json. */
  modelType: string;
  /** Class in Python, which tells the task. */
  className: string;
  config(facts: GgufFacts, read: ReadFloats): Promise<Json>;
  /** Names outside of layers: with `.weight` and `.bias` left out, or whole. */
  names: Readonly<Record<string, string>>;
  /** Beginning of the names in a layer, before its number. */
  layers: string;
  /** Names in a layer. Stacks of experts have `*` in the place of the expert's number. */
  inLayer: Readonly<Record<string, string>>;
  /** What llama.cpp's converter did to a tensor, by its name there. */
  change?(facts: GgufFacts, name: string): StoredChange | undefined;
}

/** Of models like Llama. */
export const DECODER_NAMES = {
  token_embd: 'model.embed_tokens',
  output_norm: 'model.norm',
  output: 'lm_head',
} as const;

export const LAYER_NAMES = {
  attn_norm: 'input_layernorm',
  attn_q: 'self_attn.q_proj',
  attn_k: 'self_attn.k_proj',
  attn_v: 'self_attn.v_proj',
  attn_output: 'self_attn.o_proj',
  attn_q_norm: 'self_attn.q_norm',
  attn_k_norm: 'self_attn.k_norm',
  ffn_norm: 'post_attention_layernorm',
  ffn_gate: 'mlp.gate_proj',
  ffn_up: 'mlp.up_proj',
  ffn_down: 'mlp.down_proj',
} as const;

/** Of layers with norms behind attention and feed-forward, too. */
export const NORMS_AROUND = {
  post_attention_norm: 'post_attention_layernorm',
  ffn_norm: 'pre_feedforward_layernorm',
  post_ffw_norm: 'post_feedforward_layernorm',
} as const;

/** Of mixtures. */
export const EXPERT_NAMES = {
  ffn_gate_inp: 'mlp.gate',
  ffn_gate_exps: 'mlp.experts.*.gate_proj',
  ffn_up_exps: 'mlp.experts.*.up_proj',
  ffn_down_exps: 'mlp.experts.*.down_proj',
} as const;

/** Layers, of which each has tensors. @throws WeightsError for more than there are tensors */
export function layersOf(facts: GgufFacts): number {
  const layers = facts.count('block_count');
  if (layers >= 1 && layers <= facts.tensors.size) return layers;
  throw facts.refuse(`has ${layers} as ${facts.architecture}.block_count, and ${facts.tensors.size} tensors`);
}

/** Width of a head where all of them are as wide as the network. */
export const shareOf = (facts: GgufFacts): number =>
  facts.count('embedding_length') / facts.count('attention.head_count');

/** Width of a head. */
export const headOf = (facts: GgufFacts): number =>
  facts.optionalCount('attention.key_length') ?? shareOf(facts);

/** Fields that all models like Llama have. */
export async function decoderFields(facts: GgufFacts, read: ReadFloats): Promise<Json> {
  const [vocabulary] = facts.shapeOf('token_embd.weight');
  const heads = facts.count('attention.head_count');
  const width = facts.optionalCount('attention.key_length');
  return {
    vocab_size: vocabulary,
    hidden_size: facts.count('embedding_length'),
    intermediate_size: facts.count('feed_forward_length'),
    num_hidden_layers: layersOf(facts),
    num_attention_heads: heads,
    num_key_value_heads: facts.optionalCount('attention.head_count_kv') ?? heads,
    ...(width === undefined ? {} : { head_dim: width }),
    rms_norm_eps: rounded(facts.optionalNumber('attention.layer_norm_rms_epsilon') ?? 1e-5),
    max_position_embeddings: facts.count('context_length'),
    tie_word_embeddings: !facts.has('output.weight'),
    ...(await ropeFields(facts, read)),
  };
}

/** Norms that multiply with 1 + weight are stored with the 1. */
export const withoutOne = (_: GgufFacts, name: string): StoredChange | undefined =>
  name.endsWith('norm.weight') ? { kind: 'add', value: -1 } : undefined;

/** Rows of queries and keys whose pairs rotate together stand side by side. */
export function turnedHeads(facts: GgufFacts, name: string): StoredChange | undefined {
  const [, part] = /\.attn_([qk])\.(?:weight|bias)$/.exec(name) ?? [];
  if (part === undefined) return undefined;
  const heads = facts.count('attention.head_count');
  return {
    kind: 'rows',
    heads: part === 'q' ? heads : (facts.optionalCount('attention.head_count_kv') ?? heads),
  };
}
