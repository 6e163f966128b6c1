/**
 * Rotary settings of config.json in one form: transformers 4 writes `rope_theta`, `rope_scaling` and
 * `partial_rotary_factor`, transformers 5 has all of them in `rope_parameters`, flat or by kind of layer. Schemas read the
 * first form; layers with a window have `rope_local_base_freq` where theirs differ.
 * Source: modeling_rope_utils.py of transformers 5.24 (convert_rope_params_to_dict, standardize_rope_params).
 */

import { isObject } from './json.js';

type Json = Readonly<Record<string, unknown>>;

/** The keys that tell whether frequencies are stretched beyond a length that the model was trained for. */
const WITH_ORIGINAL_LENGTH = new Set(['llama3', 'yarn', 'longrope']);

const KINDS = ['full_attention', 'sliding_attention'];

/** @returns config without `rope_parameters`, or with what of them the first form has no words for */
export function withPlainRope(config: Json): Json {
  const { rope_parameters: parameters, ...rest } = config;
  if (!isObject(parameters)) return parameters === null ? rest : config;
  // Where a file has both forms, what is not null of the old one counts (convert_rope_params_to_dict).
  const rope = isObject(config['rope_scaling']) ? config['rope_scaling'] : parameters;
  // What is left of a file that was read before: kinds of layers that turn no heads.
  if (!Object.values(rope).some(isObject) && KINDS.some((kind) => rope[kind] === null)) return config;
  if (!Object.values(rope).some(isObject)) return { ...rest, ...plainRope(rope, config) };
  const { full_attention: full, sliding_attention: sliding, ...others } = rope;
  return {
    ...rest,
    ...(isObject(full) ? plainRope(full, config) : {}),
    ...(isObject(sliding) ? localRope(sliding, isObject(full) ? full : {}, config) : {}),
    ...remaining({ ...others, ...nulls({ full_attention: full, sliding_attention: sliding }) }),
  };
}

const nulls = (kinds: Json): Json =>
  Object.fromEntries(Object.entries(kinds).filter(([, kind]) => kind === null));

/** Kinds of layers that only files of version 5 have, for schemas of such families. */
const remaining = (others: Json): Json => (Object.keys(others).length > 0 ? { rope_parameters: others } : {});

interface Rope {
  theta: unknown;
  partial: unknown;
  scaling: Json | null;
}

/** @param config for what stands beside the settings: a length at the top level wins over one inside (phi3) */
function readRope(rope: Json, config: Json): Rope {
  const { rope_theta: theta, partial_rotary_factor: partial, rope_type: own, type, ...others } = rope;
  const kind = own ?? type ?? 'default';
  const share = kind === 'proportional' ? defined({ partial_rotary_factor: partial }) : {};
  const scaling = { rope_type: kind, ...others, ...share, ...originalLength(kind, others, config) };
  const isPlain = kind === 'default' && Object.keys(others).length === 0;
  return {
    // Null stays null where nothing else is said: Python turns no heads then, or fails.
    theta: theta ?? config['rope_theta'] ?? theta,
    // Proportional heads turn whole: the share is one of their frequencies.
    partial: kind === 'proportional' ? undefined : (partial ?? config['partial_rotary_factor']),
    scaling: isPlain ? null : scaling,
  };
}

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : NaN);

function originalLength(kind: unknown, rope: Json, config: Json): Json {
  if (typeof kind !== 'string' || !WITH_ORIGINAL_LENGTH.has(kind)) return {};
  const length =
    config['original_max_position_embeddings'] ??
    rope['original_max_position_embeddings'] ??
    config['max_position_embeddings'];
  return {
    ...(length === undefined ? {} : { original_max_position_embeddings: length }),
    ...(kind === 'longrope' ? attentionFactor(rope, numberOf(length)) : {}),
    ...(kind === 'yarn' && rope['factor'] === null
      ? { factor: numberOf(config['max_position_embeddings']) / numberOf(length) }
      : {}),
  };
}

/** Version 5 takes `factor` where it stands, version 4 the ratio of the lengths (_compute_longrope_parameters). */
function attentionFactor({ factor, attention_factor: own }: Json, length: number): Json {
  if (typeof factor !== 'number' || typeof own === 'number') return {};
  return { attention_factor: factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(length)) };
}

const defined = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

function plainRope(given: Json, config: Json): Json {
  const { theta, partial, scaling } = readRope(given, config);
  const length =
    scaling?.['rope_type'] === 'longrope' ? scaling['original_max_position_embeddings'] : undefined;
  return {
    ...defined({ rope_theta: theta, partial_rotary_factor: partial }),
    ...defined({ original_max_position_embeddings: length }),
    rope_scaling: scaling,
  };
}

/** Of layers with a window: their base, and what no schema reads where they are stretched or rotated in other parts. */
function localRope(given: Json, full: Json, config: Json): Json {
  const { theta, partial, scaling } = readRope(given, config);
  return defined({
    rope_local_base_freq: theta,
    rope_local_scaling: scaling ?? undefined,
    rope_local_partial_rotary_factor: partial === readRope(full, config).partial ? undefined : partial,
  });
}
