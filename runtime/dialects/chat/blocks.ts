import { RunError } from '../../core/errors.js';
import type { TaskId } from '../../core/task-ids.js';
import { mediaKey } from '../../tasks/body.js';
import type { ServedModel } from '../host.js';

/** Tasks that answer conversations. */
export const CHAT_TASKS = [
  'chat',
  'image-text-to-text',
  'audio-text-to-text',
  'video-text-to-text',
] as const satisfies readonly TaskId[];

/** Media that tasks read. */
const KINDS: Readonly<Partial<Record<TaskId, readonly string[]>>> = {
  'image-text-to-text': ['image'],
  'audio-text-to-text': ['audio'],
  'video-text-to-text': ['video', 'image'],
};

/** A block of a message, as tasks have it. */
export type Block = { type: string } & Record<string, unknown>;

/**
 * @param path of the block in the caller's body
 * @throws RunError 400 for a medium that the model does not read
 */
export function requireReadable({ modelId, task }: ServedModel, block: Block, path: string): Block {
  if (block.type === 'text' || KINDS[task]?.includes(block.type)) return block;
  const read = ['text', ...(KINDS[task] ?? [])].join(' and ');
  throw new RunError('invalid_input', `${path}.type: ${modelId} reads ${read} only`);
}

/** A medium by its address, a data URL or bare Base64. */
export function mediaBlock(type: 'image' | 'audio' | 'video', given: string): Block {
  return { type, ...mediaKey(given) };
}

/** Blocks that are all text as one text, since some templates take nothing else. */
export function textOrBlocks(blocks: readonly Block[]): string | Block[] {
  const isText = blocks.every(({ type }) => type === 'text');
  return isText ? blocks.map((block) => block['text'] as string).join('\n') : [...blocks];
}
