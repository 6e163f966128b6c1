import type { z } from 'zod';
import type { Head } from '../core/handles/index.js';
import type { AudioNetwork, MediaEncoderSizes } from '../core/network.js';
import type { ModelReaders } from '../core/readers.js';
import type { TaskId } from '../core/task-ids.js';
import type { InertFields } from './inert-fields.js';
import type { Decoder } from './bases/decoder/decoder.js';
import type { ImageModel } from './bases/vision/image-encoder.js';
import type { GraphWriter } from './writer/graph-writer.js';
import type { TensorNames } from './writer/weights.js';

/** Writes the graph of one role (`model`, `encoder_model`, …). */
export type WriteRole<Config> = (g: GraphWriter, config: Config) => void;

/** What the builder can't tell of a network's memory by fields that families share (builder/plan/network/). */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- of a family whose type is not known
export interface MemoryTraits<Config = any> {
  /** Layers that keep keys and values, in layers of the usual width. */
  keyLayers?(config: Config): number;
  /** Layers, where no field says how many. */
  layers?(config: Config): number;
  /** Patches of an image, where no field says how large it is. */
  patches?(config: Config): number;
  /** Width of the widest layer over patches of an image, where `intermediate_size` of its encoder does not say it. */
  visionInner?(config: Config): number;
  /** Width of a head as its keys and values are kept, where `head_dim` says another one. */
  headWidth?(config: Config): number;
  /** Attention of the vision encoder adds no mask and no bias, so that its kernel holds a block of the scores at a time (measured). */
  unmaskedVision?: boolean;
  /** Stages are convolutions, without wide layers in between. */
  convolutional?: boolean;
  /** The decoder computes in the size of the image. */
  decodesPixels?: boolean;
  /** The decoder enlarges all stages to the size of the first one, and joins them. */
  joinsStages?: boolean;
  /** How audio becomes steps, where fields of Wav2Vec2 don't say it. */
  audio?(config: Config): AudioNetwork;
  /** Of what makes features of audio clips, where no `audio_config` says it. */
  audioEncoder?(config: Config): MediaEncoderSizes;
}

export interface NetworkBeside {
  /** Where it lies in the repository. */
  folder: string;
  /** The repository that Python takes it from. */
  usual: string;
}

/** @param config config.json in the form of normalizeConfig, unchecked */
export type ReadersOf = ModelReaders | ((config: Readonly<Record<string, unknown>>) => ModelReaders);

/**
 * How graphs are written for a family of models: one file each, named as transformers names it.
 */
export interface Family<Config = unknown> extends TensorNames {
  /** Values of `model_type` in config.json; of networks of diffusers, values of `_class_name`. */
  modelTypes: readonly string[];
  /** Of repositories that name neither a task nor a class. */
  usualTask?: TaskId;
  /** What it reads of config.json, with Python's defaults. */
  config: z.ZodType<Config>;
  prefixes: readonly string[];
  /** By what the task needs, the graphs of all roles. */
  heads: Partial<Record<Head, Readonly<Record<string, WriteRole<Config>>>>>;
  /** Layers keep their matrices as [inputs, outputs] (Python's Conv1D). */
  conv1d?: boolean;
  memory?: MemoryTraits<Config>;
  /** What of its configuration is not read, and why not. */
  inert?: readonly InertFields[];
  /** What of the server reads these models: for `readers` of model.json. A function where the configuration decides. */
  readers?: ReadersOf;
  /** What users of these models should know beforehand, one sentence each: in docs/models.md and in what `builder plan` says. */
  limits?: readonly string[];
  /** Networks that finish what this one makes, by the head: of each all graphs are written. */
  networksBeside?: Partial<Record<Head, readonly NetworkBeside[]>>;
  /** Of a language model that others can be put together with. */
  decoder?(config: Config): Decoder;
  /** Of an encoder of images, likewise; its states are [rows, tokens, width]. */
  image?(config: Config): ImageModel;
}

/** A limit of families whose images are not admitted by what their run takes. */
export const UNCHECKED_MEMORY = 'A run’s memory is not checked before: give the server what `plan` says.';

/** A limit of latent attention. */
export const WHOLE_KEYS =
  'The cache holds whole keys and values, not the narrow vectors that they are made of.';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a registry row hides its own types
export type AnyFamily = Family<any>;

export function defineFamily<S extends z.ZodType>(
  family: Omit<Family<z.output<S>>, 'config'> & { config: S },
): AnyFamily {
  return family;
}
