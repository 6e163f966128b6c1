import { normalizeConfig } from '../../runtime/hub-config/normalize.js';
import { parsePythonJson } from '../../runtime/core/python-json.js';
import type { ModelInfo } from '../../runtime/core/spec.js';
import type { GgufModel } from '../../runtime/gguf/index.js';
import type { ModelSource } from '../../runtime/store/source.js';
import type { ModelReaders } from '../../runtime/core/readers.js';
import { readersOf } from '../../runtime/models/readers.js';
import { timmKind } from '../../runtime/models/timm/kinds.js';
import { versionNote } from './config/require-read.js';
import { processingProblem } from '../../runtime/hub-config/processing.js';
import { refuseMark } from './json-files.js';
import { Refusal } from './refusal.js';
import type { NetworkFacts } from '../../runtime/core/network.js';
import { usualNoiseBytes } from '../../runtime/core/diffusion-run-memory.js';
import type { RunBytes } from '../../runtime/core/media-run-memory.js';
import { tokenizerClassOf } from '../../runtime/hub-config/tokenizer-class.js';
import { networkFacts } from './network/index.js';
import { type ImageMemory, imageMemory } from './vision/image-memory.js';

/** Facts from the small files of a repository. */
export interface ModelFacts {
  /** config.architectures: Python class names, the most important first. */
  architectures: string[];
  modelType?: string;
  /** The repository has its own model code (config.auto_map), which is never run. */
  customCode: boolean;
  /** Python's class that reads texts, less `Tokenizer` */
  tokenizerClass?: string;
  hasChatTemplate: boolean;
  /** A sentence-transformers model (with modules.json) that is no reranker. */
  sentenceModules: boolean;
  /** Python's class that prepares images, or audio clips. */
  processor?: string;
  /** timm's settings for images stand in config.json. */
  hasTimmSettings: boolean;
  /** Class of a diffusers pipeline (model_index.json). */
  pipelineClass?: string;
  /** What memory is computed from. */
  network: NetworkFacts;
  /** What of the server reads the model's files. */
  readers: ModelReaders;
  /** What an image would take; says nothing of models that read none. */
  image: ImageMemory;
  /** What an operator should know of the files, one sentence each. */
  notes: string[];
  /** Header of the file, for models in GGUF. */
  gguf?: GgufModel;
  /** Bytes of the runs that make an image of usual size out of noise, for pipelines of diffusers. */
  noise?: RunBytes;
}

type Json = Record<string, unknown>;

/**
 * Reads the facts; missing files are skipped.
 * @throws StoreError when the source fails; Refusal when a file is not a JSON object
 */
export async function readFacts(source: ModelSource, info: ModelInfo): Promise<ModelFacts> {
  const read = async (path: string) => parseObject(path, await source.readText(info, path));
  const readSettings = async (path: string) => checked(path, await read(path));
  const [config, tokenizer, index, sentences, processing] = await Promise.all([
    read('config.json').then(normalizeConfig),
    read('tokenizer_config.json'),
    read('model_index.json'),
    read('config_sentence_transformers.json'),
    readSettings('preprocessor_config.json'),
  ]);
  const has = (path: string) => info.files.some((file) => file.path === path);
  return {
    architectures: strings(config.architectures),
    modelType: timmKind(config) ?? string(config.model_type),
    customCode: typeof config.auto_map === 'object' && config.auto_map !== null,
    tokenizerClass: tokenizerClassOf(tokenizer, config),
    hasChatTemplate:
      has('chat_template.jinja') || has('chat_template.json') || Boolean(tokenizer.chat_template),
    sentenceModules: has('modules.json') && sentences.model_type !== 'CrossEncoder',
    processor: string(processing.image_processor_type) ?? string(processing.feature_extractor_type),
    hasTimmSettings: typeof config.pretrained_cfg === 'object' && config.pretrained_cfg !== null,
    pipelineClass: string(index._class_name),
    notes: [versionNote(config)].filter((note) => note !== undefined),
    network: networkFacts(config),
    readers: readersOf(config),
    image: imageMemory(config, await processingOf(processing, read)),
    ...(index._class_name ? { noise: await noiseOf(string(index._class_name), read) } : {}),
  };
}

/** What diffusers makes of a text if nothing else is asked for. */
const FRAMES = 16;

/** @param name class of the pipeline */
export async function noiseOf(
  name: string | undefined,
  read: (path: string) => Promise<Json>,
): Promise<RunBytes> {
  const decoders = ['vae', 'vae_decoder', 'vqvae', 'vqvae_decoder'];
  const [unet, transformer, ...found] = await Promise.all(
    ['unet', 'transformer', ...decoders].map((part) => read(`${part}/config.json`)),
  );
  const network = Object.keys(transformer!).length > 0 ? transformer! : unet!;
  const decoder = found.find((one) => Object.keys(one).length > 0) ?? {};
  const rows = name?.startsWith('TextToVideo') ? FRAMES : 1;
  const bytes = (own: boolean) => usualNoiseBytes(network, decoder, { rows, own });
  return { own: bytes(true), exported: bytes(false) };
}

/** Newer repositories have it in a file about all processors. */
async function processingOf(own: Json, read: (path: string) => Promise<Json>): Promise<Json> {
  if (Object.keys(own).length > 0) return own;
  const combined = await read('processor_config.json');
  const inner = combined['image_processor'] ?? combined['feature_extractor'];
  const settings = typeof inner === 'object' && inner !== null ? (inner as Json) : combined;
  return checked('processor_config.json', settings);
}

/** @throws Refusal for settings that no class of transformers can take */
function checked(path: string, settings: Json): Json {
  const problem = processingProblem(settings);
  if (problem === undefined) return settings;
  throw new Refusal(`${path}: ${problem}`, 'repair the file, or take another revision');
}

/** @throws Refusal for what is no JSON object, or begins with a byte order mark; none is an empty one */
export function parseObject(path: string, text: string | undefined): Json {
  if (text === undefined) return {};
  refuseMark(path, text);
  let value: unknown;
  try {
    value = parsePythonJson(text);
  } catch {
    value = undefined;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw new Refusal(
    `${path} of the repository is not a JSON object`,
    'repair the file, or take another revision',
  );
}

function string(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : [];
}
