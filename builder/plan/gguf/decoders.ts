import {
  DECODER_NAMES,
  decoderFields,
  EXPERT_NAMES,
  type GgufArchitecture,
  LAYER_NAMES,
  layersOf,
  NORMS_AROUND,
  shareOf,
  turnedHeads,
  withoutOne,
} from './architecture.js';
import type { GgufFacts, Json } from './facts.js';
import { rounded } from './rounded.js';

export const decoder = { names: DECODER_NAMES, layers: 'model.layers', inLayer: LAYER_NAMES } as const;

const optional = (name: string, value: unknown): Json => (value === undefined ? {} : { [name]: value });

/** Llama, Mistral, SmolLM and others of that form; with experts, Mixtral. */
export const llama: GgufArchitecture = {
  ...decoder,
  ...{ modelType: 'llama', className: 'LlamaForCausalLM', change: turnedHeads },
  config: async (facts, read) => ({
    ...(await decoderFields(facts, read)),
    attention_bias: facts.has('blk.0.attn_output.bias'),
    mlp_bias: facts.has('blk.0.ffn_up.bias'),
  }),
};

export const mixtral: GgufArchitecture = {
  ...llama,
  ...{ modelType: 'mixtral', className: 'MixtralForCausalLM' },
  inLayer: {
    ...LAYER_NAMES,
    ffn_gate_inp: 'block_sparse_moe.gate',
    ffn_gate_exps: 'block_sparse_moe.experts.*.w1',
    ffn_up_exps: 'block_sparse_moe.experts.*.w3',
    ffn_down_exps: 'block_sparse_moe.experts.*.w2',
  },
  config: async (facts, read) => ({
    ...(await decoderFields(facts, read)),
    num_local_experts: facts.count('expert_count'),
    num_experts_per_tok: facts.count('expert_used_count'),
    sliding_window: null,
  }),
};

export const qwen2: GgufArchitecture = {
  ...decoder,
  ...{ modelType: 'qwen2', className: 'Qwen2ForCausalLM', config: decoderFields },
};

/** Of texts alone, whose positions are the same on all three axes. */
export const qwen2vl: GgufArchitecture = qwen2;

export const qwen3: GgufArchitecture = {
  ...decoder,
  ...{ modelType: 'qwen3', className: 'Qwen3ForCausalLM' },
  config: async (facts, read) => ({
    ...(await decoderFields(facts, read)),
    attention_bias: facts.has('blk.0.attn_q.bias'),
  }),
};

export const qwen3vl: GgufArchitecture = qwen3;

export const qwen3moe: GgufArchitecture = {
  ...decoder,
  ...{ modelType: 'qwen3_moe', className: 'Qwen3MoeForCausalLM' },
  inLayer: { ...LAYER_NAMES, ...EXPERT_NAMES },
  config: async (facts, read) => ({
    ...(await decoderFields(facts, read)),
    attention_bias: facts.has('blk.0.attn_q.bias'),
    num_experts: facts.count('expert_count'),
    num_experts_per_tok: facts.count('expert_used_count'),
    moe_intermediate_size: facts.count('expert_feed_forward_length'),
    // As llama.cpp computes it, whatever the metadata say.
    norm_topk_prob: true,
  }),
};

export const gemma: GgufArchitecture = {
  ...decoder,
  ...{ modelType: 'gemma', className: 'GemmaForCausalLM', config: decoderFields, change: withoutOne },
};

/** The largest models of a series scale scores by the width of the network's share, the others by that of a head. */
function scaleOf(facts: GgufFacts, layersOfLargest: number): Json {
  const isLargest = facts.count('block_count') === layersOfLargest;
  return { query_pre_attn_scalar: isLargest ? shareOf(facts) : facts.count('attention.key_length') };
}

export const gemma2: GgufArchitecture = {
  ...gemma,
  ...{ modelType: 'gemma2', className: 'Gemma2ForCausalLM' },
  inLayer: { ...LAYER_NAMES, ...NORMS_AROUND },
  config: async (facts, read) => ({
    ...(await decoderFields(facts, read)),
    ...scaleOf(facts, 46),
    sliding_window: facts.optionalCount('attention.sliding_window') ?? 4096,
    attn_logit_softcapping: facts.optionalNumber('attn_logit_softcapping') ?? null,
    final_logit_softcapping: facts.optionalNumber('final_logit_softcapping') ?? null,
  }),
};

export const gemma3: GgufArchitecture = {
  ...gemma2,
  ...{ modelType: 'gemma3_text', className: 'Gemma3ForCausalLM' },
  config: async (facts, read) => ({
    ...(await decoderFields(facts, read)),
    ...scaleOf(facts, 62),
    rope_theta: facts.optionalNumber('rope.freq_base') ?? 1e6,
    rope_local_base_freq: facts.optionalNumber('rope.freq_base_swa') ?? 10_000,
    sliding_window: facts.count('attention.sliding_window'),
    layer_types: layerTypes(facts),
    attn_logit_softcapping: null,
    final_logit_softcapping: facts.optionalNumber('final_logit_softcapping') ?? null,
  }),
};

/** Which layers see a window: by a list, or all but every so-manieth. @param usual where the file does not say */
export function layerTypes(facts: GgufFacts, usual = 6): string[] {
  const pattern = facts.value('attention.sliding_window_pattern') ?? usual;
  return Array.from({ length: layersOf(facts) }, (_, layer) => {
    const slides =
      typeof pattern === 'object' ? Boolean(pattern[layer]) : (layer + 1) % Number(pattern) !== 0;
    return slides ? 'sliding_attention' : 'full_attention';
  });
}

export const phi3: GgufArchitecture = {
  ...decoder,
  ...{ modelType: 'phi3', className: 'Phi3ForCausalLM' },
  inLayer: { ...LAYER_NAMES, attn_qkv: 'self_attn.qkv_proj', ffn_up: 'mlp.gate_up_proj' },
  async config(facts, read) {
    const fields = await decoderFields(facts, read);
    const head = shareOf(facts);
    const rotated = facts.optionalCount('rope.dimension_count') ?? head;
    return {
      ...fields,
      ...(rotated === head ? {} : { partial_rotary_factor: rotated / head }),
      original_max_position_embeddings:
        facts.optionalCount('rope.scaling.original_context_length') ?? fields['max_position_embeddings'],
      sliding_window: facts.optionalCount('attention.sliding_window') || null,
    };
  },
};

export const granite: GgufArchitecture = {
  ...llama,
  ...{ modelType: 'granite', className: 'GraniteForCausalLM' },
  config: async (facts, read) => ({
    ...(await llama.config(facts, read)),
    ...optional('attention_multiplier', scaled(facts, 'attention.scale')),
    ...optional('embedding_multiplier', scaled(facts, 'embedding_scale')),
    ...optional('residual_multiplier', scaled(facts, 'residual_scale')),
    ...optional('logits_scaling', scaled(facts, 'logit_scale')),
  }),
};

function scaled(facts: GgufFacts, key: string): number | undefined {
  const value = facts.optionalNumber(key);
  return value === undefined ? undefined : rounded(value);
}
