import { STARCODER_WINDOW } from '../../../runtime/gguf/index.js';
import {
  decoderFields,
  EXPERT_NAMES,
  type GgufArchitecture,
  headOf,
  LAYER_NAMES,
  turnedHeads,
  withoutOne,
} from './architecture.js';
import { decoder, layerTypes } from './decoders.js';
import type { GgufFacts, Json } from './facts.js';
import { rounded } from './rounded.js';

/** Norms behind attention and feed-forward alone. */
const NORMS_BEHIND = {
  post_attention_norm: 'post_attention_layernorm',
  post_ffw_norm: 'post_feedforward_layernorm',
} as const;

const epsilonOf = (facts: GgufFacts): number =>
  rounded(facts.optionalNumber('attention.layer_norm_epsilon') ?? 1e-5);

/** The share of a head that turns. */
const turnedShare = (facts: GgufFacts): number =>
  (facts.optionalCount('rope.dimension_count') ?? headOf(facts)) / headOf(facts);

const hasBias = (facts: GgufFacts, part: string): boolean => facts.has(`blk.0.${part}.bias`);

const biasesOf = (facts: GgufFacts): Json => ({
  attention_bias: hasBias(facts, 'attn_q'),
  mlp_bias: hasBias(facts, 'ffn_up'),
});

/** @throws WeightsError for positions on several axes */
function requireOneAxis(facts: GgufFacts): void {
  const sections = facts.value('rope.dimension_sections');
  if (sections !== undefined) throw facts.refuse('counts its positions on several axes');
}

/** All but every fourth layer turn their heads, which no metadata say. */
export const smollm3: GgufArchitecture = {
  ...decoder,
  ...{ modelType: 'smollm3', className: 'SmolLM3ForCausalLM', change: turnedHeads },
  config: async (facts, read) => ({
    ...(await decoderFields(facts, read)),
    ...{ no_rope_layer_interval: 4, use_sliding_window: false, sliding_window: null },
    ...biasesOf(facts),
  }),
};

export const glm4: GgufArchitecture = {
  ...decoder,
  ...{ modelType: 'glm4', className: 'Glm4ForCausalLM' },
  inLayer: {
    ...LAYER_NAMES,
    ffn_up: 'mlp.gate_up_proj',
    post_attention_norm: 'post_self_attn_layernorm',
    post_ffw_norm: 'post_mlp_layernorm',
  },
  async config(facts, read) {
    requireOneAxis(facts);
    return {
      ...(await decoderFields(facts, read)),
      head_dim: headOf(facts),
      partial_rotary_factor: turnedShare(facts),
      attention_bias: hasBias(facts, 'attn_q'),
    };
  },
};

export const ernie45: GgufArchitecture = {
  ...decoder,
  ...{ modelType: 'ernie4_5', className: 'Ernie4_5ForCausalLM' },
  async config(facts, read) {
    requireOneAxis(facts);
    return {
      ...(await decoderFields(facts, read)),
      head_dim: headOf(facts),
      use_bias: hasBias(facts, 'attn_q'),
    };
  },
};

export const starcoder2: GgufArchitecture = {
  ...decoder,
  ...{ modelType: 'starcoder2', className: 'Starcoder2ForCausalLM' },
  inLayer: { ...LAYER_NAMES, ffn_up: 'mlp.c_fc', ffn_down: 'mlp.c_proj' },
  async config(facts, read) {
    const { rms_norm_eps: _, ...fields } = await decoderFields(facts, read);
    return {
      ...fields,
      norm_epsilon: epsilonOf(facts),
      use_bias: hasBias(facts, 'attn_q'),
      sliding_window: facts.optionalCount('attention.sliding_window') ?? STARCODER_WINDOW,
    };
  },
};

/** So many layers there are for each that sees everything, where the file does not say. */
const PATTERN = 4;

export const cohere2: GgufArchitecture = {
  ...decoder,
  ...{ modelType: 'cohere2', className: 'Cohere2ForCausalLM' },
  async config(facts, read) {
    const { rms_norm_eps: _, ...fields } = await decoderFields(facts, read);
    return {
      ...fields,
      layer_norm_eps: epsilonOf(facts),
      logit_scale: scaleOf(facts),
      sliding_window: facts.count('attention.sliding_window'),
      layer_types: layerTypes(facts, PATTERN),
    };
  },
};

/** Of scores. @throws WeightsError where it is missing */
function scaleOf(facts: GgufFacts): number {
  const found = facts.optionalNumber('logit_scale');
  if (found === undefined) throw facts.refuse('has no cohere2.logit_scale');
  return rounded(found);
}

export const olmo2: GgufArchitecture = {
  ...decoder,
  ...{ modelType: 'olmo2', className: 'Olmo2ForCausalLM', config: decoderFields },
  inLayer: { ...LAYER_NAMES, ...NORMS_BEHIND },
};

const slides = (facts: GgufFacts): boolean => (facts.optionalCount('attention.sliding_window') ?? 0) > 0;

/** The window, and which layers see it; nothing where there is none. */
const windowFields = (facts: GgufFacts): Json =>
  slides(facts)
    ? { sliding_window: facts.count('attention.sliding_window'), layer_types: layerTypes(facts, PATTERN) }
    : { sliding_window: null };

/** OLMo 2 with windows is OLMo 3. */
const olmo3: GgufArchitecture = {
  ...olmo2,
  ...{ modelType: 'olmo3', className: 'Olmo3ForCausalLM' },
  config: async (facts, read) => ({ ...(await decoderFields(facts, read)), ...windowFields(facts) }),
};

export const olmoOf = (facts: GgufFacts): GgufArchitecture => (slides(facts) ? olmo3 : olmo2);

export const exaone4: GgufArchitecture = {
  ...decoder,
  ...{ modelType: 'exaone4', className: 'Exaone4ForCausalLM' },
  inLayer: { ...LAYER_NAMES, ...NORMS_BEHIND },
  config: async (facts, read) => ({ ...(await decoderFields(facts, read)), ...windowFields(facts) }),
};

export const olmoe: GgufArchitecture = {
  ...decoder,
  ...{ modelType: 'olmoe', className: 'OlmoeForCausalLM' },
  inLayer: { ...LAYER_NAMES, ...EXPERT_NAMES },
  config: async (facts, read) => ({
    ...(await decoderFields(facts, read)),
    num_experts: facts.count('expert_count'),
    num_experts_per_tok: facts.count('expert_used_count'),
    // As llama.cpp computes it, and all published models.
    norm_topk_prob: false,
  }),
};

export const seedOss: GgufArchitecture = {
  ...decoder,
  ...{ modelType: 'seed_oss', className: 'SeedOssForCausalLM' },
  inLayer: { ...LAYER_NAMES, post_attention_norm: 'post_attention_layernorm' },
  config: async (facts, read) => ({
    ...(await decoderFields(facts, read)),
    head_dim: headOf(facts),
    ...biasesOf(facts),
    attention_out_bias: hasBias(facts, 'attn_output'),
  }),
};

export const nemotron: GgufArchitecture = {
  ...decoder,
  ...{ modelType: 'nemotron', className: 'NemotronForCausalLM', change: withoutOne },
  async config(facts, read) {
    const { rms_norm_eps: _, rope_scaling: scaling, ...fields } = await decoderFields(facts, read);
    if (scaling !== null) throw facts.refuse('scales its positions, which Nemotron does not in Python');
    return {
      ...fields,
      norm_eps: epsilonOf(facts),
      head_dim: headOf(facts),
      partial_rotary_factor: turnedShare(facts),
      ...biasesOf(facts),
    };
  },
};

export const arcee: GgufArchitecture = {
  ...decoder,
  ...{ modelType: 'arcee', className: 'ArceeForCausalLM', change: turnedHeads },
  config: async (facts, read) => ({
    ...(await decoderFields(facts, read)),
    ...biasesOf(facts),
  }),
};
