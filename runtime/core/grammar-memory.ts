import { MEDIA_CHATS, type TaskId } from './task-ids.js';

/** Tasks whose answers may have to follow a format. */
const TASKS: ReadonlySet<TaskId> = new Set<TaskId>([
  ...(['chat', 'text-generation', 'summarization', 'text2text-generation'] as const),
  ...MEDIA_CHATS,
]);

/** Its code, and grammars that are kept. */
const BASE_BYTES = 16 * 2 ** 20;
/** Its own tree of the tokens (580 to 620 bytes each, of 50,000 to 262,144 tokens), and what it is made of. */
const ENTRY_BYTES = 640;

/** Bytes that llguidance takes with the first format that is asked for (docs/measurements.md); 0 for tasks that take none. */
export const grammarBytes = (task: TaskId, vocabulary: number): number =>
  TASKS.has(task) ? BASE_BYTES + ENTRY_BYTES * vocabulary : 0;

/** What is left of a room beside that: no less than half, since a server without formats is better than none. */
export const besideGrammar = (room: number, bytes: number): number => Math.max(room - bytes, room / 2);
