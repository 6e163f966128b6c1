import type { StoredTensor, WeightIndex } from '../../../runtime/weights/index.js';
import type { Random } from '../../faults/random.js';

export type Config = Record<string, unknown>;
type Path = readonly (string | number)[];

/** What stands in configurations of strangers where a number, a word, a list or nothing belongs. */
const VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -0, 1, 2, 3, 5, 7, 31, 1024, -1, -2.5, 0.5, 1.1, 1 / 3, 1e-308, 1e-45],
  ...[2 ** 24, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 1e21, 1e39, 1e308, Infinity, NaN],
  ...['', 'x', '32', 'NaN', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'gated-', '\x1b[2J\n'],
  ...['y'.repeat(100_000), [], [1], [-1, 0.5], ['sliding_attention'], Array(4096).fill(1), [[[]]]],
  ...[{}, { toString: 0, valueOf: 0 }, { length: 3 }, JSON.parse('{"__proto__": {"x": 1}}')],
];

/** Fields that a fixture may leave to their defaults, with values that look right. */
const FIELDS: readonly (readonly [string, readonly unknown[]])[] = [
  ['head_dim', [1, 2, 3, 6, 1e6, 2 ** 52]],
  ['num_key_value_heads', [1, 2, 3, 5, 64]],
  ['num_kv_heads', [1, 2, 3, 5, 64]],
  ['num_attention_heads', [1, 3, 5, 7, 12, 2 ** 20]],
  ['partial_rotary_factor', [0.01, 0.1, 0.3, 0.33, 0.77, 0.99, 1, 1.5]],
  ['rotary_pct', [0.01, 0.3, 0.77]],
  ['rope_theta', [1e-300, 1e-40, 1, 1e300]],
  ['num_hidden_layers', [0, 1, 1023, 1024, 1025]],
  ['num_layers', [0, 1024]],
  ['encoder_layers', [0, 1024]],
  ['decoder_layers', [0, 1024]],
  ['inner_group_num', [0, 1, 1024]],
  ['layer_types', [[], ['sliding_attention'], Array(2000).fill('full_attention'), ['linear_attention', 'x']]],
  ['hidden_act', ['__proto__', 'constructor', 'relu', 'gelu_10']],
  ['activation_function', ['__proto__', 'constructor', 'relu']],
  ['pad_token_id', [-1, 0, 2 ** 31, 2 ** 53 - 1]],
  ['eos_token_id', [-1, 2 ** 31, 2 ** 53 - 1]],
  ['id2label', [{}, [], { 0: 'a' }, { x: null }]],
  ['model_type', ['bert', 'llama', 'constructor', {}, []]],
  ['relative_attention_num_buckets', [4, 5, 7, 4096]],
  ['relative_attention_max_distance', [4, 8, 16]],
  ['max_relative_positions', [-1, 1, 5, 4096, 2 ** 24]],
  ['position_buckets', [-1, 1, 5, 2 ** 24]],
  ['sliding_window', [0, 1, 2 ** 53 - 1]],
  ['image_size', [1, 7, [8, 9], 2 ** 14]],
  ['patch_size', [1, 3, [2, 5], 2 ** 14]],
  ['rope_scaling', ropeScalings()],
];

function ropeScalings(): unknown[] {
  const kinds = ['default', 'linear', 'llama3', 'yarn', 'longrope', 'su', 'dynamic', 'constructor', {}, 3];
  const rest = [
    {},
    { factor: 0 },
    { factor: 1e-320 },
    { factor: 2, original_max_position_embeddings: 1, low_freq_factor: 1, high_freq_factor: 1 },
    { factor: 1e308, original_max_position_embeddings: 1e-300, low_freq_factor: 4, high_freq_factor: 1 },
    { factor: 4, beta_fast: 1e-300, beta_slow: 1e300, mscale: 1, mscale_all_dim: 1e300, truncate: false },
    { factor: 4, attention_factor: 1e300, short_factor: [1, 2], long_factor: Array(4).fill(1e-300) },
    { factor: 4, short_factor: Array(4).fill(1), long_factor: 'x' },
  ];
  return kinds.flatMap((kind) => rest.map((one) => ({ rope_type: kind, ...one })));
}

/** Numbers near to the right one, which divide nothing, or come in another size. */
const near = (value: number): number[] => [value + 1, value - 1, value * 2, value / 2, value * 1.5, -value];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null || path.length > 4) return [path];
  const inner = Object.entries(value).flatMap(([key, one]) => pathsOf(one, [...path, key]));
  return path.length === 0 ? inner : [path, ...inner];
}

const valueAt = (config: Config, path: Path): unknown =>
  path.reduce<unknown>((value, key) => (value as Config | undefined)?.[key], config);

function put(config: Config, path: Path, value: unknown): void {
  const holder = valueAt(config, path.slice(0, -1));
  // An earlier change may have taken away what held it.
  if (typeof holder !== 'object' || holder === null) return;
  if (value === undefined && Array.isArray(holder)) holder.splice(Number(path.at(-1)), 1);
  else if (value === undefined) delete (holder as Config)[path.at(-1)!];
  else (holder as Config)[path.at(-1)!] = value;
}

/** One to three fields deleted or replaced. */
export function changedConfig(given: Config, random: Random): { config: Config; changes: unknown[] } {
  const config = structuredClone(given);
  const paths = pathsOf(given);
  const changes: unknown[] = [];
  for (let i = random.chance(0.6) ? 1 : 3; i > 0; i--) {
    const known = random.chance(0.35);
    const [field, values] = random.pick(FIELDS);
    const path = known ? [field] : random.pick(paths);
    const old = valueAt(given, path);
    const numbers = typeof old === 'number' && random.chance(0.5) ? near(old) : VALUES;
    const value = random.chance(0.1) ? undefined : random.pick(known ? values : numbers);
    put(config, path, value);
    changes.push([path.join('.'), value === undefined ? 'deleted' : value]);
  }
  return { config, changes };
}

/** A tensor gone, or of another shape or type. */
export function changedIndex(given: WeightIndex, random: Random): WeightIndex {
  const index = new Map(given);
  const name = random.pick([...index.keys()]);
  const stored = index.get(name)!;
  const change = (to: Partial<StoredTensor>) => index.set(name, { ...stored, ...to });
  const kind = random.below(4);
  if (kind === 0) index.delete(name);
  if (kind === 1) change({ shape: random.pick([[], [0], [1, 1, 1], stored.shape.toReversed(), [2 ** 40]]) });
  if (kind === 2) change({ shape: stored.shape.map((size) => size + random.below(2)) });
  if (kind === 3)
    change({ type: random.pick(['I64', 'BOOL', 'F16', 'BF16', 'F64', 'F8_E4M3', 'valueOf', '']) });
  return index;
}
