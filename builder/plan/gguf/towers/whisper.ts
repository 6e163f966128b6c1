import type { Json } from '../facts.js';
import type { GgufProjector } from './projector.js';
import type { TowerFacts } from './tower-facts.js';

/** Of Whisper's norms, which Python has no field for. */
const EPSILON = 1e-5;
/** How Whisper reads audio: samples a second, of a window, and from one window to the next; steps of two windows each. */
const [RATE, WINDOW, HOP, FRAMES] = [16_000, 400, 160, 2];

/** The most steps of an encoder. @throws WeightsError where they are no whole seconds */
function stepsOf(tower: TowerFacts): { steps: number; seconds: number } {
  const [steps = 0] = tower.shapeOf('a.position_embd.weight');
  const seconds = (steps * FRAMES * HOP) / RATE;
  if (Number.isInteger(seconds) && seconds > 0) return { steps, seconds };
  throw tower.refuse(`has positions for ${steps} steps, which are no whole seconds`);
}

function requireEpsilon(tower: TowerFacts): void {
  const epsilon = tower.positive('audio.attention.layer_norm_epsilon');
  if (epsilon !== EPSILON)
    throw tower.refuse(`has ${epsilon} as clip.audio.attention.layer_norm_epsilon, not ${EPSILON}`);
}

/** Converters give biases of convolutions a second axis. */
function flatBiases(tower: TowerFacts): TowerFacts['tensors'] {
  const flat = [...tower.tensors].map(([name, tensor]) => {
    const [count = 0, ...rest] = tensor.shape;
    const isBias = /^a\.conv1d\.\d\.bias$/.test(name) && rest.every((size) => size === 1);
    return [name, isBias ? { ...tensor, shape: [count] } : tensor] as const;
  });
  return new Map(flat);
}

/** Whisper's encoder before a language model. */
const whisper = {
  ...{ medium: 'audio', activations: [], tokens: [], join: flatBiases },
  inModel: (name) => `language_model.${name}`,
  layers: 'audio_tower.layers',
  inLayer: {
    ...{ ln1: 'self_attn_layer_norm', ln2: 'final_layer_norm', ffn_up: 'fc1', ffn_down: 'fc2' },
    ...{ attn_q: 'self_attn.q_proj', attn_k: 'self_attn.k_proj', attn_v: 'self_attn.v_proj' },
    attn_out: 'self_attn.out_proj',
  },
  processing(tower) {
    const { seconds } = stepsOf(tower);
    return {
      ...{ feature_extractor_type: 'WhisperFeatureExtractor', sampling_rate: RATE, dither: 0 },
      ...{ feature_size: tower.size('audio.num_mel_bins'), n_fft: WINDOW, hop_length: HOP },
      ...{ chunk_length: seconds, n_samples: seconds * RATE, nb_max_frames: (seconds * RATE) / HOP },
      ...{ padding_side: 'right', padding_value: 0, return_attention_mask: false },
    };
  },
} satisfies Partial<GgufProjector>;

const NAMES = {
  'a.conv1d.1': 'audio_tower.conv1',
  'a.conv1d.2': 'audio_tower.conv2',
  'a.position_embd': 'audio_tower.embed_positions',
  'a.post_ln': 'audio_tower.layer_norm',
} as const;

/** Sizes, by the names that the encoder of a family has for them. */
function sizesAs(tower: TowerFacts, names: Readonly<Record<string, string>>): Json {
  requireEpsilon(tower);
  const sizes = Object.entries(names).map(([key, name]) => [name, tower.size(`audio.${key}`)]);
  return { ...Object.fromEntries(sizes), max_source_positions: stepsOf(tower).steps };
}

/** One window of a recording, two steps as one. */
export const qwen2Audio: GgufProjector = {
  ...{ ...whisper, modelType: 'qwen2_audio', className: 'Qwen2AudioForConditionalGeneration' },
  ...{ languages: ['qwen2'], keys: ['audio.num_mel_bins'] },
  names: { ...NAMES, 'mm.a.fc': 'multi_modal_projector.linear' },
  config(tower, { config, modelType, tokenId }) {
    ['<|audio_bos|>', '<|audio_eos|>'].forEach(tokenId);
    return {
      text_config: { model_type: modelType, ...config },
      audio_config: {
        ...{ model_type: 'qwen2_audio_encoder', activation_function: 'gelu' },
        ...sizesAs(tower, {
          ...{ embedding_length: 'd_model', feed_forward_length: 'encoder_ffn_dim' },
          ...{ block_count: 'encoder_layers', 'attention.head_count': 'encoder_attention_heads' },
          num_mel_bins: 'num_mel_bins',
        }),
      },
      audio_token_index: tokenId('<|AUDIO|>'),
    };
  },
  processor: () => ({ processor_class: 'Qwen2AudioProcessor' }),
};

/** Whole windows, several steps side by side as one. */
export const voxtral: GgufProjector = {
  ...{ ...whisper, modelType: 'voxtral', className: 'VoxtralForConditionalGeneration' },
  ...{ languages: ['llama'], keys: ['audio.num_mel_bins', 'audio.projector.stack_factor'] },
  names: {
    ...NAMES,
    ...{ 'mm.a.mlp.1': 'multi_modal_projector.linear_1', 'mm.a.mlp.2': 'multi_modal_projector.linear_2' },
  },
  config(tower, { config, modelType, tokenId }) {
    tokenId('[BEGIN_AUDIO]');
    const [joined, width] = ['projector.stack_factor', 'embedding_length'].map((key) =>
      tower.size(`audio.${key}`),
    ) as [number, number];
    if (joined * width !== tower.size('audio.feed_forward_length'))
      throw tower.refuse(
        `joins ${joined} steps of ${width} numbers, which is not clip.audio.feed_forward_length`,
      );
    return {
      text_config: { model_type: modelType, ...config },
      audio_config: {
        ...{ model_type: 'voxtral_encoder', activation_function: 'gelu' },
        ...sizesAs(tower, {
          ...{ embedding_length: 'hidden_size', feed_forward_length: 'intermediate_size' },
          ...{ block_count: 'num_hidden_layers', 'attention.head_count': 'num_attention_heads' },
          num_mel_bins: 'num_mel_bins',
        }),
      },
      audio_token_id: tokenId('[AUDIO]'),
      projector_hidden_act: 'gelu',
    };
  },
  processor: () => ({ processor_class: 'VoxtralProcessor' }),
};
