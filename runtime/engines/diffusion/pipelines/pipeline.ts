import { join } from 'node:path';
import { RunError } from '../../../core/errors.js';
import type { ImageOptions } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { type DiffusionTask, PIPELINE_CLASSES, pipelineNamed } from '../../../core/pipelines.js';
import type { Json } from '../../repository/model-folder.js';
import { readPipelineJson } from '../graph.js';
import { schedulerConfig } from '../schedulers/config.js';
import { createScheduler } from '../schedulers/index.js';
import type { Scheduler } from '../schedulers/scheduler.js';

/** What model_index.json says. */
export interface PipelineIndex {
  name: string;
  json: Json;
}

/** @throws RunError `not_ready` for a class of pipelines that is not known */
export async function readIndex({ dir }: LoadRequest, task: DiffusionTask): Promise<PipelineIndex> {
  const json = await readPipelineJson(dir, 'model_index.json');
  const name = pipelineNamed(String(json?.['_class_name']));
  const known: readonly string[] = PIPELINE_CLASSES[task];
  if (json && known.includes(name)) return { name, json };
  throw new RunError(
    'not_ready',
    `${task} by ${json ? name : 'a model without model_index.json'} is not supported; supported: ${known.join(', ')}`,
  );
}

/** @param change what the pipeline's class does to the configuration */
export async function openScheduler(
  { dir }: LoadRequest,
  change: (config: Json) => Json = (config) => config,
): Promise<Scheduler> {
  const file = join('scheduler', 'scheduler_config.json');
  // The first repositories of diffusers have no folders.
  const config =
    (await readPipelineJson(dir, file)) ?? (await readPipelineJson(dir, 'scheduler_config.json'));
  if (!config) throw new RunError('not_ready', `the model has no ${file}`);
  return createScheduler(change(config));
}

/**
 * How far noise levels move with the number of patches, for schedules with `use_dynamic_shifting` (`mu`).
 * @param most default of `max_shift`
 */
export async function openShift(
  { dir }: LoadRequest,
  most: number,
): Promise<(patches: number) => number | undefined> {
  const json = (await readPipelineJson(dir, join('scheduler', 'scheduler_config.json'))) ?? {};
  const config = schedulerConfig(json);
  if (!config.flag('use_dynamic_shifting', false)) return () => undefined;
  const [few, many] = [config.number('base_image_seq_len', 256), config.number('max_image_seq_len', 4096)];
  const [low, high] = [config.number('base_shift', 0.5), config.number('max_shift', most)];
  const slope = (high - low) / (many - few);
  return (patches) => patches * slope + (low - slope * few);
}

/** StableDiffusionPipeline corrects schedulers from before these fields were there, and all others with them. */
export const withoutOldHabits = (config: Json): Json => ({ ...config, steps_offset: 1, clip_sample: false });

/** @throws RunError 422 that names a parameter which this pipeline lacks */
export function refuse(
  options: ImageOptions,
  pipeline: string,
  names: readonly Extract<keyof ImageOptions, string>[],
): void {
  const given = names.find((name) => options[name] != null);
  if (given) throw new RunError('unprocessable', `params.${given}: ${pipeline} has no such parameter`);
}
