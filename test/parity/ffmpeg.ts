import { spawnSync } from 'node:child_process';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { taskOf } from '../../runtime/tasks/registry.js';

/** True on machines that can decode audio and video; scripts/ffmpeg.sh installs it where it may. */
export const HAS_FFMPEG = spawnSync('ffmpeg', ['-version']).status === 0;

/** Why models of a task can't be tried here. */
export function missingFor(task: string): string | undefined {
  const { modality, blocks } = taskOf(task as TaskId);
  const kinds = [blocks ?? modality, ...task.split('-')];
  const isHeard = kinds.some((kind) => ['audio', 'video', 'speech'].includes(kind));
  return isHeard && !HAS_FFMPEG ? 'no ffmpeg' : undefined;
}
