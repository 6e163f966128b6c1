import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadRequest } from '../../../core/load-request.js';
import { tokenizerThread } from '../../chat-templates/tokenizer-requests.js';
import type { ThreadedTokenizer } from '../../chat-templates/threaded-tokenizer.js';
import { availableMemory } from '../../sessions/available-memory.js';
import { createPromptEncoder, type EncodeAside, type EncodePrompt } from '../../tokenizers/prompt-encoder.js';
import type { TextTokenizer } from '../../tokenizers/tokenizer.js';

type Where = Pick<LoadRequest, 'dir' | 'memory'>;

/** Makes tokens of prompts; of long ones on the thread of those who ask for tokens. @param tokenizer the one that it opens, too */
export function openPromptEncoder(where: Where, tokenizer: TextTokenizer): EncodePrompt {
  const thread = tokenizerThread(where.dir);
  return createPromptEncoder(tokenizer, thread ? threadAside(thread, where) : () => undefined);
}

/** Bytes of memory for each byte of the tokenizer's files: 293 MB were measured for 15.9 MB. */
const MEMORY_PER_BYTE = 20;
const THREAD_BYTES = 24 * 2 ** 20;
/** The part of what is free that a second tokenizer may take: caches and runs need the rest. */
const SHARE = 1 / 4;
const FILES = ['tokenizer.json', 'vocab.json', 'merges.txt', 'tokenizer.model', 'spiece.model'];

/** A thread that runs costs nothing more; one that is to start has to fit. */
export function threadAside(thread: ThreadedTokenizer, { dir, memory }: Where): EncodeAside {
  const sizes = FILES.map((name) => statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0);
  const needed = THREAD_BYTES + MEMORY_PER_BYTE * sizes.reduce((sum, size) => sum + size, 0);
  return (text, options, signal) =>
    thread.isRunning() || needed <= SHARE * availableMemory(memory)
      ? thread.encode({ prompt: text, options }, signal)
      : undefined;
}
