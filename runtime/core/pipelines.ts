import type { TaskId } from './task-ids.js';

/** Classes of diffusers' pipelines that are served, by task. */
export const PIPELINE_CLASSES = {
  'text-to-image': [
    ...(['StableDiffusionPipeline', 'StableDiffusionXLPipeline', 'StableDiffusion3Pipeline'] as const),
    ...(['LatentConsistencyModelPipeline', 'FluxPipeline'] as const),
  ],
  'unconditional-image-generation': ['DDPMPipeline', 'DDIMPipeline', 'PNDMPipeline', 'LDMPipeline'],
  'text-to-video': ['TextToVideoSDPipeline'],
} as const satisfies Partial<Record<TaskId, readonly string[]>>;

export type DiffusionTask = keyof typeof PIPELINE_CLASSES;

/** Classes for a task that is served by class; undefined for other tasks. */
export function pipelineClasses(task: TaskId): readonly string[] | undefined {
  return Object.hasOwn(PIPELINE_CLASSES, task) ? PIPELINE_CLASSES[task as DiffusionTask] : undefined;
}

/** Exporters to ONNX write names of their own for the same pipelines. */
export const pipelineNamed = (name: string): string => name.replace(/^(?:Onnx|ORT)(?=[A-Z])/, '');
