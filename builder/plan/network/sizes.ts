import { isObject } from '../../../runtime/hub-config/json.js';
import type { MediaEncoderSizes, NetworkSizes } from '../../../runtime/core/network.js';
import { type Json } from './config-fields.js';
import { innerDefaults } from './inner-defaults.js';
import { parsedConfig, traitsOf } from './traits.js';

type Named = 'experts' | 'vocabulary' | 'hidden' | 'intermediate' | 'layers' | 'heads' | 'positions';

/** The names that families have for a size. */
const NAMES: Record<Named, readonly string[]> = {
  experts: ['num_local_experts', 'num_experts', 'n_routed_experts', 'moe_num_experts'],
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

/** Reads the sizes of config.json, and of configurations of text, vision and audio in it; 0 for unknown ones. */
export function sizesOf(config: Json): NetworkSizes {
  const inner = isObject(config['text_config']) ? config['text_config'] : {};
  const defaults = innerDefaults(config, 'text_config');
  const find = (names: readonly string[]) => first(names, [config, inner]) ?? first(names, [defaults]) ?? 0;
  const [hidden, heads, experts] = [find(NAMES.hidden), find(NAMES.heads), find(NAMES.experts)];
  const headWidth =
    ownTrait(config, 'headWidth') ??
    ownTrait(inner, 'headWidth') ??
    (find(['head_dim', 'd_kv']) || (heads && hidden / heads));
  return {
    vocabulary: find(NAMES.vocabulary),
    hidden,
    intermediate: find(NAMES.intermediate),
    layers: ownTrait(config, 'layers') ?? find(NAMES.layers),
    heads,
    positions: find(NAMES.positions),
    keys: (find(['num_key_value_heads']) || heads) * headWidth,
    patches: patchesOf(find(['image_size']), find(['patch_size'])),
    keyLayers: keyLayersOf(config) ?? keyLayersOf(inner),
    ...(experts > 0 && { experts }),
    vision: visionOf(config),
    audio: audioOf(config),
  };
}

/** The first of these names that a configuration has a positive number for; by name, then by configuration. */
function first(
  names: readonly string[],
  configs: readonly Json[],
  read: (value: unknown) => number = numberOf,
): number | undefined {
  return names
    .map((name) => read(configs.map((config) => config[name]).find((value) => value != null)))
    .find((value) => value > 0);
}

/** NaN for what is no number: a stranger's object may not even have a text. */
function numberOf(value: unknown): number {
  if (Array.isArray(value)) return value.length === 1 ? numberOf(value[0]) : NaN;
  return typeof value === 'object' ? NaN : Number(value);
}

/** Some write edges as height and width. */
const edgeOf = (value: unknown): number => numberOf(Array.isArray(value) ? value[0] : value);

/** Layers that convolutions and recurrences take the place of attention in. */
const STATE_LAYERS = new Set(['conv', 'mamba', 'linear_attention']);

/** A number that a configuration's family makes of it; undefined where it makes none, or can't read it. */
function ownTrait(
  config: Json,
  name: 'keyLayers' | 'layers' | 'headWidth' | 'patches' | 'visionInner',
): number | undefined {
  const read = traitsOf(config)[name];
  const own = read && parsedConfig(config);
  return own === undefined ? undefined : read!(own);
}

function keyLayersOf(config: Json): number | undefined {
  const own = ownTrait(config, 'keyLayers');
  if (own !== undefined) return own;
  const { layer_types: types } = config;
  if (!Array.isArray(types) || !types.some((each) => STATE_LAYERS.has(each as string))) return undefined;
  return types.filter((each) => !STATE_LAYERS.has(each as string)).length;
}

/** CLIP's and SigLIP's, for types that no library has. */
const VISION = { hidden: 768, intermediate: 3072, heads: 12 };

function visionOf(config: Json): MediaEncoderSizes | undefined {
  const own = config['vision_config'];
  if (!isObject(own)) return undefined;
  const defaults = innerDefaults(config, 'vision_config');
  const find = (...names: string[]) => first(names, [own], edgeOf) ?? first(names, [defaults], edgeOf);
  // Qwen2-VL's `hidden_size` is the width of the language model.
  const hidden = find('embed_dim', 'hidden_size') ?? VISION.hidden;
  const ratio = find('mlp_ratio');
  return {
    hidden,
    intermediate:
      ownTrait(config, 'visionInner') ??
      first(['intermediate_size'], [own]) ??
      (ratio ? ratio * hidden : (find('intermediate_size') ?? VISION.intermediate)),
    heads: find('num_attention_heads', 'num_heads') ?? VISION.heads,
    patches: ownTrait(config, 'patches') ?? patchesOf(find('image_size') ?? 0, find('patch_size') ?? 0),
    masked: first(['window_size'], [own]) !== undefined || !traitsOf(config).unmaskedVision,
  };
}

/** Whisper's large encoder, which most models of audio have. */
const AUDIO = { hidden: 1280, intermediate: 5120, heads: 20, patches: 1500 };

function audioOf(config: Json): MediaEncoderSizes | undefined {
  const { audioEncoder } = traitsOf(config);
  const parsed = audioEncoder && parsedConfig(config);
  if (parsed !== undefined) return audioEncoder!(parsed);
  const own = config['audio_config'];
  if (!isObject(own)) return undefined;
  const find = (...names: string[]) => first(names, [own]);
  return {
    hidden: find('hidden_size', 'd_model') ?? AUDIO.hidden,
    intermediate: find('intermediate_size', 'encoder_ffn_dim') ?? AUDIO.intermediate,
    heads: find('num_attention_heads', 'encoder_attention_heads') ?? AUDIO.heads,
    patches: find('max_source_positions') ?? AUDIO.patches,
    masked: true,
  };
}

function patchesOf(edge: number, patch: number): number {
  return edge > 0 && patch > 0 ? Math.floor(edge / patch) ** 2 + 1 : 0;
}
