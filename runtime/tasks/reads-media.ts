import type { TaskDefinition } from './define.js';

/** Whether requests hold images, audio clips or videos. Tasks that make them from a text read none. */
export function readsMedia({ modality, blocks }: Pick<TaskDefinition, 'modality' | 'blocks'>): boolean {
  const kind = blocks ?? modality;
  return kind === 'image' || kind === 'audio' || kind === 'video';
}
