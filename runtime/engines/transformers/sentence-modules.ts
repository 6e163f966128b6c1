import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { RunError } from '../../core/errors.js';
import type { Pooling } from '../../core/handles.js';
import { type Json, readOptionalJson } from '../model-folder.js';
import { unit } from './pooling.js';
import { readSafetensors } from './safetensors.js';

type VectorStep = (vector: Float32Array) => Float32Array;

/** What a sentence-transformers repository says about turning hidden states into one vector. */
export interface SentenceModules {
  pooling: Pooling[];
  /** False: the prompt's tokens don't count in pooling. */
  includePrompt: boolean;
  /** Dense layers and normalisation, in order. */
  steps: VectorStep[];
  prompts: Record<string, string>;
  defaultPrompt: string | undefined;
  maxSeqLength: number | undefined;
  lowerCase: boolean;
}

/** Flags of 1_Pooling/config.json in the order in which sentence-transformers concatenates. */
const POOLING_FLAGS: [string, Pooling][] = [
  ['pooling_mode_cls_token', 'cls'],
  ['pooling_mode_max_tokens', 'max'],
  ['pooling_mode_mean_tokens', 'mean'],
  ['pooling_mode_mean_sqrt_len_tokens', 'mean_sqrt_len_tokens'],
  ['pooling_mode_weightedmean_tokens', 'weightedmean'],
  ['pooling_mode_lasttoken', 'lasttoken'],
];

/** Reads modules.json and what it names. A repository without it gets sentence-transformers' own default: a mean. */
export async function readSentenceModules(dir: string): Promise<SentenceModules> {
  const [modules, settings, transformer] = await Promise.all([
    readOptionalJson<{ type?: string; path?: string }[]>(dir, 'modules.json'),
    readOptionalJson(dir, 'config_sentence_transformers.json'),
    readOptionalJson(dir, 'sentence_bert_config.json'),
  ]);
  const result: SentenceModules = {
    pooling: ['mean'],
    includePrompt: true,
    steps: [],
    prompts: (settings?.['prompts'] ?? {}) as Record<string, string>,
    defaultPrompt: (settings?.['default_prompt_name'] ?? undefined) as string | undefined,
    maxSeqLength: (transformer?.['max_seq_length'] ?? undefined) as number | undefined,
    lowerCase: transformer?.['do_lower_case'] === true,
  };
  for (const module of modules ?? []) await readModule(dir, module, result);
  return result;
}

async function readModule(dir: string, module: { type?: string; path?: string }, into: SentenceModules) {
  const kind = (module.type ?? '').split('.').at(-1);
  const path = module.path ?? '';
  if (kind === 'Transformer' || kind === 'Dropout') return;
  if (kind === 'Normalize') into.steps.push(unit);
  else if (kind === 'Pooling') readPooling((await readOptionalJson(dir, `${path}/config.json`)) ?? {}, into);
  else if (kind === 'Dense') into.steps.push(await readDense(dir, path));
  else throw new RunError('not_ready', `sentence-transformers module ${kind} is not supported`);
}

function readPooling(config: Json, into: SentenceModules): void {
  const named = config['pooling_mode'];
  const kinds = named === undefined ? flagged(config) : ([named].flat() as string[]);
  const known = new Set(POOLING_FLAGS.map(([, kind]) => kind as string));
  const odd = kinds.find((kind) => !known.has(kind));
  if (odd !== undefined) throw new RunError('not_ready', `pooling mode ${odd} is not known`);
  into.pooling = kinds as Pooling[];
  into.includePrompt = config['include_prompt'] !== false;
}

function flagged(config: Json): Pooling[] {
  const kinds = POOLING_FLAGS.filter(([flag]) => config[flag] === true).map(([, kind]) => kind);
  return kinds.length > 0 ? kinds : ['mean'];
}

const ACTIVATIONS: Record<string, (x: number) => number> = {
  Tanh: Math.tanh,
  Identity: (x) => x,
  ReLU: (x) => Math.max(0, x),
  Sigmoid: (x) => 1 / (1 + Math.exp(-x)),
};

/** y = activation(W x + b), W as [out x in]. */
async function readDense(dir: string, path: string): Promise<VectorStep> {
  const config = (await readOptionalJson(dir, `${path}/config.json`)) ?? {};
  const name = String(config['activation_function'] ?? 'Tanh')
    .split('.')
    .at(-1)!;
  const activation = ACTIVATIONS[name];
  if (!activation) throw new RunError('not_ready', `the Dense layer's activation ${name} is not supported`);
  await access(join(dir, path, 'model.safetensors')).catch((cause: unknown) => {
    throw new RunError(
      'not_ready',
      `${path}/model.safetensors is missing (a Dense layer can't be read from .bin)`,
      {
        cause,
      },
    );
  });
  const tensors = await readSafetensors(dir, `${path}/model.safetensors`);
  const weight = tensors.get('linear.weight');
  if (!weight) throw new RunError('not_ready', `${path}/model.safetensors holds no linear.weight`);
  return dense(weight, tensors.get('linear.bias'), activation);
}

function dense(
  weight: Float32Array,
  bias: Float32Array | undefined,
  activation: (x: number) => number,
): VectorStep {
  return (vector) => {
    const width = vector.length;
    return Float32Array.from({ length: weight.length / width }, (_, out) => {
      let sum = bias?.[out] ?? 0;
      for (let i = 0; i < width; i++) sum += weight[out * width + i]! * vector[i]!;
      return activation(sum);
    });
  };
}
