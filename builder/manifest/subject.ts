import { findEngine } from '../../runtime/core/engines.js';
import { isModelId } from '../../runtime/core/ids.js';
import type { Device } from '../../runtime/core/spec.js';
import { isTaskId, type TaskId } from '../../runtime/core/task-ids.js';
import type { Docker } from '../docker/docker.js';
import { BuilderError } from '../exit.js';
import { deviceOf, figuresOf, LABEL } from '../images/labels.js';
import type { Figures } from '../plan/figures.js';
import { fileArchive, isFile, onlyImage } from '../transfer/sources.js';

/** Facts about an image from its labels. Labels may be wrong, but are checked so that they can't inject anything. */
export interface ManifestSubject {
  /** Name of the image; undefined for a tarball without one. */
  image: string | undefined;
  modelId: string;
  task: TaskId;
  device: Device;
  /** True if requests share runs, so many may run at the same time. */
  batches: boolean;
  /** The weights are in the image. */
  baked: boolean;
  commit: string | undefined;
  figures: Figures | undefined;
}

/**
 * Reads the labels of an image of the engine, or of a tarball without an engine.
 * @throws BuilderError `refused` when it is no model image
 */
export async function readManifestSubject(given: string, docker: Docker): Promise<ManifestSubject> {
  if (await isFile(given)) {
    const { names, labels } = await onlyImage(fileArchive(given));
    return { image: names[0], ...aboutOf(given, labels) };
  }
  const image = await docker.inspectImage(given);
  if (!image) {
    const remedy = '"builder list" lists those that are there; a tarball of "builder export" is taken, too';
    throw new BuilderError('failure', `there is no image ${given} on this engine; ${remedy}`);
  }
  return { image: given, ...aboutOf(given, image.labels) };
}

function aboutOf(given: string, labels: Readonly<Record<string, string>>): Omit<ManifestSubject, 'image'> {
  const [modelId, task] = [labels[LABEL.model] ?? '', labels[LABEL.task] ?? ''];
  const device = deviceOf(labels);
  if (!isModelId(modelId) || !isTaskId(task) || device === undefined) {
    const what = `${given} is no model image of builder's: its labels name no model, task and device`;
    throw new BuilderError('refused', `${what}; make one with "builder build"`);
  }
  const commit = labels[LABEL.commit] ?? '';
  return {
    ...{ modelId, task, device },
    batches:
      findEngine(labels[LABEL.engine] ?? '')?.batchesTexts === true && labels[LABEL.profile] === 'text',
    baked: labels[LABEL.baked] === 'true',
    commit: /^[\w-]{1,64}$/.test(commit) ? commit : undefined,
    figures: figuresOf(labels),
  };
}
