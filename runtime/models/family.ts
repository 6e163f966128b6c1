import type { z } from 'zod';
import type { Head } from '../core/handles/index.js';
import type { TaskId } from '../core/task-ids.js';
import type { Decoder } from './bases/decoder/decoder.js';
import type { PictureModel } from './bases/vision/image-encoder.js';
import type { GraphWriter } from './writer/graph-writer.js';
import type { TensorNames } from './writer/weights.js';

/** Writes the graph of one role (`model`, `encoder_model`, …). */
export type WriteRole<Config> = (g: GraphWriter, config: Config) => void;

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
  /** Of a language model that others can be put together with. */
  decoder?(config: Config): Decoder;
  /** Of an encoder of pictures, likewise; its states are [rows, tokens, width]. */
  picture?(config: Config): PictureModel;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a registry row hides its own types
export type AnyFamily = Family<any>;

export function defineFamily<S extends z.ZodType>(
  family: Omit<Family<z.output<S>>, 'config'> & { config: S },
): AnyFamily {
  return family;
}
