import { spawn } from 'node:child_process';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { Refusal } from './refusal.js';

/** True for tasks whose servers decode or encode audio clips or videos. */
export function needsFfmpeg(task: TaskId): boolean {
  const { modality, blocks } = taskOf(task);
  return ['audio', 'video'].includes(blocks ?? modality) || task === 'text-to-video';
}

/** True on machines with an ffmpeg; images bring their own. */
export function hasFfmpeg(): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('ffmpeg', ['-version'], { stdio: 'ignore' });
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code === 0));
  });
}

/** @throws Refusal for a task that needs ffmpeg, on a machine that has none */
export async function requireMediaTools(id: string, task: TaskId, find = hasFfmpeg): Promise<void> {
  if (!needsFfmpeg(task) || (await find())) return;
  throw new Refusal(
    `${id} needs ffmpeg for ${task}, and none is installed on this machine`,
    'install it (apt-get install ffmpeg), or use builder run: images bring their own',
  );
}
