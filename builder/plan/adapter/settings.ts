import * as z from 'zod';
import { isModelId } from '../../../runtime/core/ids.js';
import { printable } from '../../../runtime/core/printable.js';
import { Refusal } from '../refusal.js';

/** What adapter_config.json says of an adapter that can be merged. */
export interface LoraSettings {
  /** Id of the model that it changes. */
  base: string;
  /** Of that model, if it is named. */
  revision: string | undefined;
  /** Rank of a module's matrices. @param module path in Python's model, such as `model.layers.0.mlp.up_proj` */
  rankOf(module: string): number;
  /** What a module's product is multiplied by. */
  scaleOf(module: string): number;
}

export const MERGE_REMEDY =
  "merge them with Python, peft's merge_and_unload() and save_pretrained(DIR), and give --from DIR";

/** Ways to begin training that leave the base model as it is. The others change its weights when the adapter is loaded. */
const PLAIN_STARTS: ReadonlySet<unknown> = new Set([true, false, 'gaussian', 'eva', 'orthogonal']);

/** A name of modules, or an end of one: as a regular expression it means itself, but for the dots. */
const PLAIN_PATTERN = /^\^?[\w.]+$/;

const pattern = z
  .record(z.string(), z.number())
  .nullish()
  .transform((found) => Object.entries(found ?? {}));

const schema = z.looseObject({
  peft_type: z.literal('LORA'),
  base_model_name_or_path: z.string().refine(isModelId),
  revision: z.string().min(1).nullish(),
  r: z.int().min(1).max(65_536),
  lora_alpha: z.number(),
  use_rslora: z.boolean().nullish(),
  rank_pattern: pattern,
  alpha_pattern: pattern,
});

/**
 * Settings that are read here, are of training alone, or name what the tensors show. Any other one that is set means another
 * kind of LoRA: DoRA, trained biases, copied layers.
 */
const PLAIN_SETTINGS = new Set([
  ...['peft_type', 'peft_version', 'auto_mapping', 'base_model_name_or_path', 'revision', 'task_type'],
  ...['inference_mode', 'r', 'lora_alpha', 'lora_dropout', 'use_rslora', 'rank_pattern', 'alpha_pattern'],
  ...['target_modules', 'exclude_modules', 'modules_to_save', 'layers_to_transform', 'layers_pattern'],
  ...[
    'fan_in_fan_out',
    'ensure_weight_tying',
    'init_lora_weights',
    'loftq_config',
    'eva_config',
    'corda_config',
  ],
  ...[
    'lora_ga_config',
    'megatron_core',
    'qalora_group_size',
    'runtime_config',
    'merge_weights',
    'enable_lora',
  ],
]);

function isOther(name: string, value: unknown): boolean {
  if (!isSet(value)) return false;
  if (name === 'bias') return value !== 'none';
  if (name === 'init_lora_weights') return !PLAIN_STARTS.has(value);
  return !PLAIN_SETTINGS.has(name);
}

/** False for what Python leaves at its default. */
function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/**
 * @param id of the adapter, for messages
 * @param config adapter_config.json
 * @throws Refusal that names what can't be merged
 */
export function readSettings(id: string, config: Readonly<Record<string, unknown>>): LoraSettings {
  const fail = (what: string, remedy = MERGE_REMEDY) => new Refusal(`${id} is an adapter ${what}`, remedy);
  const { peft_type: kind, base_model_name_or_path: base } = config;
  const shown = (value: unknown) =>
    JSON.stringify(printable(typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 80));
  if (typeof base !== 'string' || !isModelId(base))
    throw fail(
      `of ${typeof base === 'string' ? shown(base) : 'a model that it does not name'}, which is no id on a hub`,
    );
  if (kind !== 'LORA') throw fail(`of the kind ${shown(kind)} for ${base}, and only LORA is merged here`);
  const other = Object.keys(config).find((name) => isOther(name, config[name]));
  if (other !== undefined)
    throw fail(`with ${printable(other)} ${shown(config[other])}, which is not merged here`);
  const parsed = schema.safeParse(config);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    throw fail(`whose adapter_config.json is wrong: ${path.join('.')}: ${message}`);
  }
  const { r, lora_alpha: alpha, use_rslora: rooted, revision, rank_pattern, alpha_pattern } = parsed.data;
  for (const [key] of [...rank_pattern, ...alpha_pattern])
    if (!PLAIN_PATTERN.test(key)) throw fail(`with ${shown(key)} as a pattern, which is more than a name`);
  const rankOf = valueFor(rank_pattern, r);
  const alphaOf = valueFor(alpha_pattern, alpha);
  return {
    base,
    revision: revision ?? undefined,
    rankOf,
    scaleOf: (module) => alphaOf(module) / (rooted ? Math.sqrt(rankOf(module)) : rankOf(module)),
  };
}

/** The value of the first pattern that a module's path ends with, as peft looks for it. */
function valueFor(patterns: readonly [string, number][], otherwise: number): (module: string) => number {
  const found = patterns.map(([key, value]) => [new RegExp(`^(.*\\.)?(${key})$`), value] as const);
  return (module) => found.find(([key]) => key.test(module))?.[1] ?? otherwise;
}
