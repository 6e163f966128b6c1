import { withBackboneName } from './backbone.js';
import { isObject } from './json.js';
import { FIELDS, LAYER_WORDS, TYPES } from './renames.js';
import { withPlainRope } from './rope.js';
import { trackerOf } from './tracker.js';
import { transformersMajor } from './version.js';

type Json = Record<string, unknown>;

/** Hostile files nest for ever; configurations of parts have parts of their own at most twice. */
const MOST_LEVELS = 8;

/**
 * config.json in one form, whichever version of transformers wrote it: that of version 4, which all schemas read. What only
 * version 5 has keeps its name. Every reader of config.json calls this first (docs/decisions/2026-11-25-config-normalization.md).
 * Pure; values that are not what they should be stay as they are, for schemas to refuse.
 */
export function normalizeConfig(config: Readonly<Json>, level = 0): Json {
  if (level > MOST_LEVELS) return { ...config };
  const given = withOuterTie(trackerOf(thinkerOf(config)));
  const parts = Object.entries(given).map(([name, value]) => [
    name,
    isPart(name, value) ? normalizeConfig(value, level + 1) : withNumbers(value),
  ]);
  return STEPS.reduce<Json>((found, step) => step(found), Object.fromEntries(parts) as Json);
}

/** Configurations of a model's parts: `text_config`, `decoder`, … Labels and settings of weights are none. */
function isPart(name: string, value: unknown): value is Json {
  if (!isObject(value) || name === 'quantization_config') return false;
  return name.endsWith('_config') || typeof value['model_type'] === 'string';
}

/** Version 5 writes numbers that JSON lacks as `{"__float__": "Infinity"}`. */
function withNumbers(value: unknown): unknown {
  if (Array.isArray(value))
    return (value as unknown[]).map((item) => (isObject(item) ? withNumbers(item) : item));
  if (!isObject(value) || Object.keys(value).length !== 1) return value;
  const name = value['__float__'];
  return typeof name === 'string' && /^(?:-?Infinity|NaN)$/.test(name) ? Number(name) : value;
}

const SPEAKERS = ['qwen2_5_omni', 'qwen3_omni_moe'];

/** The part of SPEAKERS that reads and writes texts, which is what is served; others of their parts speak. */
function thinkerOf(config: Readonly<Json>): Readonly<Json> {
  const { model_type: type, thinker_config: thinker, ...others } = config;
  if (!SPEAKERS.some((one) => one === type) || !isObject(thinker)) return config;
  const { transformers_version: version, architectures } = others;
  return {
    transformers_version: version,
    ...thinker,
    model_type: `${type as string}_thinker`,
    architectures,
  };
}

/** In version 5 the outer field says whether a language model inside of another one shares its table with its head. */
function withOuterTie(config: Readonly<Json>): Readonly<Json> {
  const { text_config: text, tie_word_embeddings: tie } = config;
  if (!isObject(text) || typeof tie !== 'boolean' || (transformersMajor(config) ?? 4) < 5) return config;
  return { ...config, text_config: { ...text, tie_word_embeddings: tie } };
}

function withOldType(config: Json): Json {
  const type = config['model_type'];
  if (typeof type !== 'string' || !Object.hasOwn(TYPES, type)) return config;
  return { ...config, model_type: TYPES[type] };
}

const of = <T>(table: Readonly<Record<string, T>>, { model_type: type }: Json): T | undefined =>
  typeof type === 'string' && Object.hasOwn(table, type) ? table[type] : undefined;

function withOldFields(config: Json): Json {
  const names = of(FIELDS, config);
  if (!names) return config;
  const renamed = { ...config };
  for (const [name, old] of Object.entries(names)) {
    if (!Object.hasOwn(config, name)) continue;
    renamed[old] = config[name];
    delete renamed[name];
  }
  return renamed;
}

function withLayerWords(config: Json): Json {
  const words = of(LAYER_WORDS, config);
  if (!words) return config;
  const renamed = (list: unknown) =>
    Array.isArray(list)
      ? (list as unknown[]).map((word) =>
          typeof word === 'string' && Object.hasOwn(words, word) ? words[word] : word,
        )
      : list;
  const lists = ['layer_types', 'layers_block_type'].filter((name) => Object.hasOwn(config, name));
  return { ...config, ...Object.fromEntries(lists.map((name) => [name, renamed(config[name])])) };
}

/** Types whose decoders scale what their head reads; in version 5 a field says so, and sharing of the table no longer does. */
const SCALED_HEADS: Readonly<Record<string, boolean | undefined>> = {
  t5: true,
  umt5: true,
  longt5: true,
  mt5: false,
};

function withScaledHead(config: Json): Json {
  const usual = of(SCALED_HEADS, config);
  if (usual === undefined || (transformersMajor(config) ?? 4) < 5) return config;
  const { scale_decoder_outputs: own, tie_word_embeddings: tie } = config;
  if (typeof own === 'boolean') return config;
  return { ...config, scale_decoder_outputs: usual && tie !== false };
}

/** A window that is switched off has the width 0 in some files of version 5, null in those of version 4. */
const withoutUnusedWindow = (config: Json): Json =>
  config['use_sliding_window'] === false && config['sliding_window'] === 0
    ? { ...config, sliding_window: null }
    : config;

const STEPS: readonly ((config: Json) => Json)[] = [
  ...[withOldType, withOldFields, withScaledHead, withLayerWords, withoutUnusedWindow],
  ...[withBackboneName, withPlainRope],
];
