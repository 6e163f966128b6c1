import { promptSettings, type PromptSettings } from '../../../repository/sentence-prompts.js';
import { RunError } from '../../../../core/errors.js';
import type { Pooling } from '../../../../core/handles/index.js';
import { firstNumber, type Json, readJson, readOptionalJson } from '../../../repository/model-folder.js';
import { normalizeVector } from './pooling.js';
import { readDense, readLayerNorm, type VectorStep } from './vector-layers.js';

/** What a sentence-transformers repository says about turning hidden states into one vector. */
export interface SentenceModules extends PromptSettings {
  /** Undefined where the repository names none. */
  pooling: Pooling[] | undefined;
  /** False: the prompt's tokens don't count in pooling. */
  includePrompt: boolean;
  /** Dense layers and normalisation, in order. */
  steps: VectorStep[];
  /** The last of them is Normalize: vectors have length 1. */
  normalizes: boolean;
  truncateDim: number | undefined;
  maxSeqLength: number | undefined;
  lowerCase: boolean;
  /** True where modules.json lists the modules. */
  listed: boolean;
  /** How texts become messages: `flat`, `structured` or `auto`; undefined: they don't. */
  messageFormat: string | undefined;
  /** What the chat template is told, such as `add_generation_prompt`. */
  templateArguments: Json;
}

/** Flags of older 1_Pooling/config.json files in the order in which sentence-transformers concatenates. */
const POOLING_FLAGS: [string, Pooling][] = [
  ['pooling_mode_cls_token', 'cls'],
  ['pooling_mode_max_tokens', 'max'],
  ['pooling_mode_mean_tokens', 'mean'],
  ['pooling_mode_mean_sqrt_len_tokens', 'mean_sqrt_len_tokens'],
  ['pooling_mode_weightedmean_tokens', 'weightedmean'],
  ['pooling_mode_lasttoken', 'lasttoken'],
];

/** Names under which versions of sentence-transformers wrote the settings of the transformer. */
const TRANSFORMER_FILES = ['bert', 'roberta', 'distilbert', 'camembert', 'albert', 'xlm-roberta', 'xlnet'];

/** Reads modules.json and what it names. */
export async function readSentenceModules(dir: string): Promise<SentenceModules> {
  const [modules, settings] = await Promise.all([
    readOptionalJson<{ type?: string; path?: string }[]>(dir, 'modules.json'),
    readOptionalJson(dir, 'config_sentence_transformers.json'),
  ]);
  // Without modules.json the library makes its own modules, and looks for no settings of them.
  const transformer = modules ? await readTransformer(dir) : {};
  const named = modules ? (settings ?? {}) : {};
  const result: SentenceModules = {
    pooling: undefined,
    includePrompt: true,
    steps: [],
    normalizes: false,
    ...promptSettings(named),
    truncateDim: (named['truncate_dim'] ?? undefined) as number | undefined,
    maxSeqLength: maxLengthOf(transformer),
    lowerCase: transformer['do_lower_case'] === true,
    listed: modules !== undefined,
    messageFormat: messageFormatOf(transformer),
    templateArguments: processing(transformer)['chat_template'] ?? {},
  };
  for (const module of modules ?? []) await readModule(dir, module, result);
  return result;
}

async function readTransformer(dir: string): Promise<Json> {
  for (const name of TRANSFORMER_FILES) {
    const found = await readOptionalJson(dir, `sentence_${name}_config.json`);
    if (found) return found;
  }
  return {};
}

/** Arguments of the tokenizer's calls, by what they are for. */
function processing(transformer: Json): Record<string, Json | undefined> {
  return (transformer['processing_kwargs'] ?? {}) as Record<string, Json | undefined>;
}

function maxLengthOf(transformer: Json): number | undefined {
  const { common, text } = processing(transformer);
  return firstNumber({ ...transformer, ...text, ...common }, 'max_length', 'max_seq_length');
}

function messageFormatOf(transformer: Json): string | undefined {
  const modalities = transformer['modality_config'] as { message?: { format?: string } } | undefined;
  return modalities?.message && (modalities.message.format ?? 'auto');
}

async function readModule(dir: string, module: { type?: string; path?: string }, into: SentenceModules) {
  const kind = (module.type ?? '').split('.').at(-1);
  const path = module.path ?? '';
  // The graph is what these compute.
  if (kind === 'Transformer' || kind === 'StaticEmbedding' || kind === 'Dropout') return;
  into.normalizes = kind === 'Normalize';
  if (kind === 'Normalize') into.steps.push(normalizeVector);
  else if (kind === 'Pooling') readPooling(await readJson(dir, `${path}/config.json`), into);
  else if (kind === 'Dense') into.steps.push(await readDense(dir, path));
  else if (kind === 'LayerNorm') into.steps.push(await readLayerNorm(dir, path));
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
