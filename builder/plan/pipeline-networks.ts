import { posix } from 'node:path';
import type { Dtype, ModelInfo } from '../../runtime/core/spec.js';
import { GraphError } from '../../runtime/models/writer/errors.js';
import type { ModelSource } from '../../runtime/store/source.js';
import {
  type Checkpoint,
  type CheckpointName,
  findCheckpoint,
  WeightsError,
  type WeightFile,
} from '../../runtime/weights/index.js';
import { parseObject } from './facts.js';

/** Where a network lies in a repository. */
export interface NetworkPlace extends CheckpointName {
  /** Empty for the repository's root. */
  folder: string;
  /** Path of its configuration. */
  config: string;
  /** The graphs that are written over it; all that its family has if absent. */
  roles?: readonly string[];
}

export interface FoundNetwork extends NetworkPlace, Checkpoint {}

export interface Pipeline {
  /** Its class. */
  name: string;
  /** Sets of graphs with which the task can be done. */
  graphs: readonly (readonly string[])[];
}

/** Parts of diffusers' pipelines that compute, and their graphs. */
const ROLES = {
  text_encoder: 'text_encoder',
  text_encoder_2: 'text_encoder_2',
  text_encoder_3: 'text_encoder_3',
  transformer: 'transformer',
  unet: 'unet',
  vae: 'vae_decoder',
  vqvae: 'vqvae_decoder',
} as const;

type Part = keyof typeof ROLES;

/**
 * The networks that model_index.json names.
 * @throws GraphError where they are not what the task wants; StoreError when the source fails
 */
export async function pipelineNetworks(
  source: Pick<ModelSource, 'readText'>,
  info: ModelInfo,
  { name, graphs }: Pipeline,
): Promise<NetworkPlace[]> {
  const index = parseObject('model_index.json', await source.readText(info, 'model_index.json'));
  const parts = (Object.keys(ROLES) as Part[]).flatMap((part) => {
    const entry = index[part];
    const library: unknown = Array.isArray(entry) ? entry[0] : undefined;
    return typeof library === 'string' ? [{ part, library }] : [];
  });
  const roles = parts.map(({ part }) => ROLES[part]);
  if (!graphs.some((set) => set.length === roles.length && roles.every((role) => set.includes(role))))
    throw new GraphError(
      `model_index.json of a ${name} names ${parts.map(({ part }) => part).join(', ') || 'no networks'}, which is not enough`,
    );
  return parts.map(({ part, library }) => placeOf(info, part, library));
}

/** As diffusers looks for it: in the folder of its name, or where there is none in the repository's root. */
function placeOf({ files }: Pick<ModelInfo, 'files'>, part: Part, library: string): NetworkPlace {
  const folder = files.some(({ path }) => path.startsWith(`${part}/`)) ? part : '';
  return {
    folder,
    // Networks of transformers have that library's names.
    stem: library === 'transformers' ? undefined : 'diffusion_pytorch_model',
    config: posix.join(folder, 'config.json'),
    roles: [ROLES[part]],
  };
}

/** Checkpoints in 16 bits that stand beside those in 32, or alone. */
const HALF = 'fp16';

/**
 * The checkpoint of a network: the one that Python takes, or that of 16 bits where it is asked for or alone.
 * @throws WeightsError
 */
export function checkpointOf(
  files: readonly WeightFile[],
  place: NetworkPlace,
  dtype: Dtype | undefined,
): FoundNetwork {
  const variants = dtype === HALF ? [HALF, undefined] : [undefined, HALF];
  const [first, second] = variants.map((variant) => ({ ...place, variant })) as [NetworkPlace, NetworkPlace];
  try {
    return { ...first, ...findCheckpoint(files, first) };
  } catch (error) {
    if (!(error instanceof WeightsError) || error.code !== 'no-weights') throw error;
    return { ...second, ...findCheckpoint(files, second) };
  }
}
