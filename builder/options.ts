import path from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { LEAST_BITS, MOST_BITS } from '../runtime/models/writer/packed-format.js';
import { isModelId } from '../runtime/core/ids.js';
import { type Device, DEVICES, type Dtype, DTYPES } from '../runtime/core/spec.js';
import { TASK_IDS, isTaskId, type TaskId } from '../runtime/core/task-ids.js';

import { endpointFrom } from './config.js';
import { hostPlatform, parsePlatform, type Platform, PLATFORMS } from './images/platform.js';
import { EXPORT_CHOICES, type ExportChoice } from './export/choice.js';
import { type BaseImages, type ForPlatform, type PlatformChoice } from './images/platforms.js';

export const DEFAULT_BASE_IMAGE = 'node:24-bookworm-slim';

/** Flags of every command that takes a model: where it comes from and how it is read. */
/** Which of a repository's weights: PyTorch's under a graph of our own, or those of its ONNX export. */
export type WeightsChoice = 'own' | 'onnx';

export interface SourceFlags {
  task?: TaskId;
  revision?: string;
  dtype?: Dtype;
  bits?: number;
  engine?: 'llama' | 'own';
  export?: ExportChoice;
  weights?: WeightsChoice;
  ignoreConfig?: string[];
  /** A file of GGUF, by its quantisation, its path or its name. */
  file?: string;
  /** An mmproj file beside it, likewise. */
  mmproj?: string;
  cache?: string;
  hub?: string;
  from?: string;
  /** Of commands that pack weights. */
  maxLoss?: number;
}

/** Flags for images, one image per platform. */
export interface ImageChoice extends PlatformChoice {
  namespace: string;
  device: Device;
  bake?: boolean;
  out: string;
  cudaProviderSha256?: string;
}

/** The same for one platform. */
export type ImageFlags = ForPlatform<ImageChoice>;

export interface OutputFlags {
  json?: boolean;
  quiet?: boolean;
}

/** The argument `<model>`: a model id, or one with a file of GGUF behind a colon. */
export function parseModelId(text: string): string {
  if (isModelId(modelAddress(text).id)) return text;
  throw new InvalidArgumentError('expected org/name as on the hub, e.g. distilbert/distilgpt2');
}

/** The same for an argument that may be given several times. */
export const parseModelIds = (text: string, before: readonly string[] = []): string[] => [
  ...before,
  parseModelId(text),
];

/** `org/name:Q4_K_M`, as other tools write it, in its parts. */
export function modelAddress(text: string): { id: string; file?: string | undefined } {
  const [, id, file] = /^([^:]*):([\w.-]+)$/.exec(text) ?? [];
  return id === undefined ? { id: text } : { id, file };
}

/** Where weights come from that an image or a plan names. */
export function addHubOptions(command: Command): Command {
  return command
    .option('--cache <folder>', 'folder for downloads (default: ~/.cache/slipway)', (text) =>
      path.resolve(text),
    )
    .option('--hub <url>', 'address of the hub (default: HF_ENDPOINT, else https://huggingface.co)', (text) =>
      endpointFrom(text, '--hub'),
    );
}

export function addSourceOptions(command: Command): Command {
  const described = addFileOption(command)
    .option(
      '--mmproj <file>',
      'which mmproj file of GGUF reads images, by its quantisation (F16) or its name',
    )
    .option('--task <task>', 'serve it as this task, not as the one named on the hub', taskId)
    .option('--revision <ref>', 'branch, tag or commit (default: main)')
    .addOption(new Option('--dtype <dtype>', 'weight format (default: the best available)').choices(DTYPES))
    .addOption(
      new Option(
        '--engine <engine>',
        'what computes a file of GGUF: llama.cpp, or a graph of ours (default: ours for known architectures with 8 bits and more)',
      ).choices(['llama', 'own']),
    )
    .addOption(
      new Option(
        '--bits <number>',
        "pack the repository's PyTorch weights to so many bits a weight (4.5 to 8), instead of by --dtype",
      )
        .argParser(bitsOf)
        .conflicts(['dtype']),
    )
    .addOption(
      new Option(
        '--weights <kind>',
        "own: the repository's PyTorch weights under a graph of ours; onnx: its ONNX export (default: own where it can be)",
      ).choices(['own', 'onnx']),
    )
    .addOption(
      new Option(
        '--export <when>',
        "have transformers' own exporter make the graph, where none can be written: auto (types that were compared with Python), force (untried ones, and in place of the repository's ONNX export), never",
      )
        .choices(EXPORT_CHOICES)
        .default('auto'),
    )
    .option(
      '--ignore-config <field>',
      'serve the model although nothing reads this field of config.json; may be given again',
      (field: string, others: string[] | undefined) => [...(others ?? []), field],
    );
  return addHubOptions(described).option(
    '--from <folder>',
    'read the model from a local folder, not from the hub',
    (text) => path.resolve(text),
  );
}

/** For commands that pack weights. */
export function addPackingOptions(command: Command): Command {
  return command.addOption(
    new Option(
      '--max-loss <part>',
      'refuse packed weights that lose more (0 to 1): the larger of 1 - correlation and what perplexity grows by',
    ).argParser(lossOf),
  );
}

function bitsOf(text: string): number {
  const bits = Number(text);
  if (text.trim() !== '' && bits >= LEAST_BITS && bits <= MOST_BITS) return bits;
  throw new InvalidArgumentError(`expected a number from ${LEAST_BITS} to ${MOST_BITS}`);
}

function lossOf(text: string): number {
  const loss = Number(text);
  if (text.trim() !== '' && loss >= 0 && loss <= 1) return loss;
  throw new InvalidArgumentError('expected a number from 0 to 1, e.g. 0.05');
}

/** Commands that know a file of their own say of both what they are. */
function addFileOption(command: Command): Command {
  if (command.options.some(({ long }) => long === '--file')) return command;
  return command.option(
    '--file <file>',
    'which file of GGUF, by its quantisation (Q4_K_M) or its name; org/name:Q4_K_M says the same',
  );
}

export function addImageOptions(command: Command): Command {
  return command
    .option('--namespace <name>', 'first part of the image name', 'slipway')
    .addOption(
      new Option(
        '--device <device>',
        'device that the image computes on (vulkan: files of GGUF by llama.cpp)',
      )
        .choices(DEVICES)
        .default('cpu'),
    )
    .addOption(
      new Option('--platform <list>', `platforms of the image, separated by commas: ${PLATFORMS.join(',')}`)
        .argParser(platformList)
        .default([hostPlatform()], "this machine's"),
    )
    .option('--out <folder>', 'folder for build folders', 'images')
    .addOption(
      new Option('--base-image <image>', 'base image with Node.js and glibc; PLATFORM=IMAGE for one platform')
        .argParser(baseImages)
        .default({ any: DEFAULT_BASE_IMAGE }, DEFAULT_BASE_IMAGE),
    )
    .option(
      '--cuda-provider-sha256 <hex>',
      'with --device cuda, but for llama.cpp: the sha256 of the provider package',
      sha256,
    );
}

export function addBakeOption(command: Command): Command {
  return command.option('--bake', 'put the weights into the image, so that it starts without a network');
}

export function addOutputOptions(command: Command): Command {
  return command
    .option('--json', 'print the result as one JSON document')
    .option('--quiet', 'no progress on stderr');
}

/** A TCP port; 0 lets the system choose. */
export function parsePort(text: string): number {
  const number = Number(text);
  if (/^\d{1,5}$/.test(text) && number <= 65535) return number;
  throw new InvalidArgumentError('expected a whole number from 0 to 65535');
}

/** Accepts tasks that are not served yet: the planner refuses them with a reason. */
function taskId(text: string): TaskId {
  if (isTaskId(text)) return text;
  throw new InvalidArgumentError(`expected a task such as ${TASK_IDS.join(', ')}`);
}

function platformList(text: string): Platform[] {
  try {
    return [...new Set(text.split(',').map(parsePlatform))];
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

/** `image` or `linux/arm64=image`; several separated by commas, or by repeating the option. */
function baseImages(text: string, before: BaseImages): BaseImages {
  const entries = text.split(',').map((part) => {
    const [, platform, image] = /^([^=]+)=(.*)$/.exec(part) ?? [];
    if (platform === undefined) return ['any', parseImageReference(part)];
    return [platformList(platform)[0]!, parseImageReference(image!)];
  });
  return { ...before, ...(Object.fromEntries(entries) as Partial<BaseImages>) };
}

/** The argument `<image>`: a name or an id. */
export function parseImageReference(text: string): string {
  if (/^[\w][\w./:@-]*$/.test(text)) return text;
  throw new InvalidArgumentError(`expected an image reference such as ${DEFAULT_BASE_IMAGE}`);
}

function sha256(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('expected 64 hexadecimal digits');
}

const UNITS = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** Parses sizes as `docker run --memory` does: 2g is 2 GiB. */
export function parseByteSize(text: string): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)([kmgt]?)i?b?$/i.exec(text) ?? [];
  const bytes = Math.floor(Number(number) * UNITS[unit.toLowerCase() as keyof typeof UNITS]);
  if (bytes > 0) return bytes;
  throw new InvalidArgumentError('expected a size such as 512m or 2g');
}
