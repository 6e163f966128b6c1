import { WeightsError } from './errors.js';
import type { WeightFile } from './types.js';

/** Which checkpoint of a repository: its folder, and its name without extension. */
export interface CheckpointName {
  /** Without a slash at its end; the repository's root if empty. */
  folder?: string | undefined;
  /** Names to try for each format; `model` for safetensors and `pytorch_model` for .bin if absent. */
  stem?: string | undefined;
  /** The same weights in another type, which stands between name and extension: `fp16`. */
  variant?: string | undefined;
}

export type CheckpointFormat = 'safetensors' | 'torch';

/** The file of a checkpoint, or the index of its shards. */
export interface Checkpoint {
  format: CheckpointFormat;
  /** In which file each tensor lies, if there are several. */
  sharded: boolean;
  file: WeightFile;
}

/** Formats in order of preference. */
const FORMATS = [
  { format: 'safetensors', stem: 'model', extension: 'safetensors' },
  { format: 'torch', stem: 'pytorch_model', extension: 'bin' },
] as const;

/**
 * The checkpoint of a repository that transformers would take: safetensors before .bin, one file before shards. For
 * pipelines of diffusers, `{ folder: 'unet', stem: 'diffusion_pytorch_model' }`.
 * @throws WeightsError no-weights, shard-missing (the index of shards), adapter-only
 */
export function findCheckpoint(
  files: readonly WeightFile[],
  { folder = '', stem, variant }: CheckpointName = {},
): Checkpoint {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const named = variant === undefined ? '' : `.${variant}`;
  for (const format of FORMATS) {
    const path = inFolder(folder, `${stem ?? format.stem}${named}.${format.extension}`);
    for (const sharded of [false, true]) {
      const file = byPath.get(sharded ? `${path}.index.json` : path);
      if (file) return { format: format.format, sharded, file };
    }
  }
  throw nothingFound(byPath, folder, stem);
}

const SHARD = /-\d{5}-of-\d{5}\.(safetensors|bin)$/;

const isShard = (path: string, folder: string, stem: string | undefined): boolean =>
  SHARD.test(path) &&
  FORMATS.some((format) => path.replace(SHARD, '') === inFolder(folder, stem ?? format.stem));

function nothingFound(
  files: ReadonlyMap<string, WeightFile>,
  folder: string,
  stem: string | undefined,
): WeightsError {
  const where = folder || 'the repository';
  if (['safetensors', 'bin'].some((extension) => files.has(inFolder(folder, `adapter_model.${extension}`)))) {
    return new WeightsError(where, {
      code: 'adapter-only',
      what: 'holds the weights of an adapter (LoRA), not of a model',
      remedy: 'take a repository with the merged model',
    });
  }
  const shard = [...files.keys()].find((path) => isShard(path, folder, stem));
  if (shard !== undefined) {
    return new WeightsError(where, {
      code: 'shard-missing',
      what: `holds ${shard} but no ${shard.replace(SHARD, '.$1.index.json')}, which says where each tensor lies`,
      remedy: 'the upload is incomplete: take another revision or another repository',
    });
  }
  const names = FORMATS.map((format) => `${stem ?? format.stem}.${format.extension}`).join(' nor ');
  return new WeightsError(where, {
    code: 'no-weights',
    what: `holds neither ${names}, whole or in shards`,
    remedy: 'take a repository with PyTorch weights under these names',
  });
}

/** Path of a file in a folder of the repository. */
export function inFolder(folder: string, name: string): string {
  return folder ? `${folder}/${name}` : name;
}
