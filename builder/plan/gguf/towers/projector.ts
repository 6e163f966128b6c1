import type { GgufArchitecture } from '../architecture.js';
import type { GgufFacts, Json } from '../facts.js';
import type { TensorNames } from '../weight-index.js';
import type { Medium, TowerFacts } from './tower-facts.js';

/** What a language model says to the model that it is a part of. */
export interface TextFacts {
  facts: GgufFacts;
  /** `model_type` of its config.json. */
  modelType: string;
  /** Its config.json. */
  config: Json;
  /** Number of a token. @throws WeightsError where its vocabulary lacks it */
  tokenId(token: string): number;
}

/** How a projector of llama.cpp, with its encoder, is a part of a model of transformers. */
export interface GgufProjector extends Pick<
  GgufArchitecture,
  'modelType' | 'className' | 'names' | 'change'
> {
  medium: Medium;
  /** `general.architecture` of language models that it stands beside. */
  languages: readonly string[];
  /** Tokens that stand for features, which files may leave out: no row of the table is theirs. */
  tokens: readonly string[];
  /** What a tensor of the language model is called as a part of this one. */
  inModel(name: string): string;
  /** Beginning of the names in a layer of the encoder, before its number. */
  layers: string;
  /** Names in a layer. */
  inLayer: TensorNames['inLayer'];
  /** The keys of which one says what the encoder's layers compute with; empty where none may. */
  activations: readonly ('use_gelu' | 'use_silu')[];
  /** Its tensors as transformers has them, where converters part some or add others. */
  join?: (tower: TowerFacts) => TowerFacts['tensors'];
  /** Keys behind `clip.` that are read, beside those of every encoder. */
  keys: readonly string[];
  config(tower: TowerFacts, text: TextFacts): Json;
  /** preprocessor_config.json */
  processing(tower: TowerFacts): Json;
  /** processor_config.json */
  processor(tower: TowerFacts): Json;
}

/** Parts of a layer of SigLIP. */
export const SIGLIP_LAYER = {
  ln1: 'layer_norm1',
  ln2: 'layer_norm2',
  attn_q: 'self_attn.q_proj',
  attn_k: 'self_attn.k_proj',
  attn_v: 'self_attn.v_proj',
  attn_out: 'self_attn.out_proj',
  ffn_up: 'mlp.fc1',
  ffn_down: 'mlp.fc2',
} as const;

/** `vision_config` of SigLIP and what is built like it. */
export const siglipConfig = (tower: TowerFacts): Json => ({
  hidden_size: tower.size('vision.embedding_length'),
  intermediate_size: tower.size('vision.feed_forward_length'),
  num_hidden_layers: tower.size('vision.block_count'),
  num_attention_heads: tower.size('vision.attention.head_count'),
  layer_norm_eps: tower.positive('vision.attention.layer_norm_epsilon'),
  image_size: tower.size('vision.image_size'),
  patch_size: tower.size('vision.patch_size'),
  num_channels: 3,
  hidden_act: 'gelu_pytorch_tanh',
});

/** How pixels become numbers. */
export function pixelSettings(tower: TowerFacts): Json {
  const [image_mean, image_std] = ['mean', 'std'].map((name) => tower.colours(`vision.image_${name}`));
  if (image_std!.some((value) => value <= 0))
    throw tower.refuse(`has ${image_std!.join(', ')} as clip.vision.image_std`);
  return {
    ...{ do_convert_rgb: true, do_resize: true, do_rescale: true, do_normalize: true },
    ...{ rescale_factor: 1 / 255, image_mean, image_std },
  };
}

/** Patches along an edge of an image, of which so many become one feature. @throws WeightsError where they do not fit */
export function featureEdge(tower: TowerFacts, factor: number): number {
  const side = Math.floor(tower.size('vision.image_size') / tower.size('vision.patch_size'));
  if (factor >= 1 && side >= factor && side % factor === 0) return side / factor;
  throw tower.refuse(`has ${side} patches along an edge, which can't be joined by ${factor}`);
}

/** The product of the first layer that newer files call the wide one. */
export const firstWide = ({ medium }: TowerFacts): string =>
  `${medium === 'vision' ? 'v' : 'a'}.blk.0.ffn_up.weight`;

/** Inner width of an encoder's layers, whichever of both products has which name. @throws WeightsError where it is not another one */
export function innerWidth(tower: TowerFacts): number {
  const width = tower.size(`${tower.medium}.embedding_length`);
  const inner = tower.shapeOf(firstWide(tower)).find((size) => size !== width);
  if (inner !== undefined) return inner;
  throw tower.refuse(`has layers whose inner width is ${width}, too: which product is first is not known`);
}
