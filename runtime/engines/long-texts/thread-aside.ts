import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadRequest } from '../../core/load-request.js';
import type { ThreadedTokenizer } from '../chat-templates/threaded-tokenizer.js';
import { tokenizerThread } from '../chat-templates/tokenizer-requests.js';
import { availableMemory } from '../sessions/available-memory.js';
import {
  createPatientTokenizer,
  createPromptEncoder,
  type EncodePrompt,
  type PatientTokenizer,
  type TokenizerAside,
} from '../tokenizers/patient-tokenizer.js';
import type { LoadTokenizerOptions, TextTokenizer } from '../tokenizers/tokenizer.js';

type Where = Pick<LoadRequest, 'dir' | 'memory'>;

const NOWHERE: TokenizerAside = { encode: () => undefined, tokenize: () => undefined };

/** Makes tokens of prompts; of long ones on the thread of those who ask for tokens. @param tokenizer the one that it opens, too */
export function openPromptEncoder(where: Where, tokenizer: TextTokenizer): EncodePrompt {
  const { encode } = openAside(where);
  return createPromptEncoder(tokenizer, (...given) => encode(...given)?.then(({ ids }) => ids));
}

/** Makes tokens of texts in the same way. @param how the tokenizer was loaded */
export const openPatientTokenizer = (
  where: Where,
  tokenizer: TextTokenizer,
  how: LoadTokenizerOptions = {},
): PatientTokenizer => createPatientTokenizer(tokenizer, openAside(where, how));

function openAside(where: Where, how?: LoadTokenizerOptions): TokenizerAside {
  const thread = tokenizerThread(where.dir, how);
  return thread ? threadAside(thread, where) : NOWHERE;
}

/** Bytes of memory for each byte of the tokenizer's files: 293 MB were measured for 15.9 MB. */
const MEMORY_PER_BYTE = 20;
const THREAD_BYTES = 24 * 2 ** 20;
/** The part of what is free that a second tokenizer may take: caches and runs need the rest. */
const SHARE = 1 / 4;
const FILES = ['tokenizer.json', 'vocab.json', 'merges.txt', 'tokenizer.model', 'spiece.model'];

/** A thread that runs costs nothing more; one that is to start has to fit. */
export function threadAside(thread: ThreadedTokenizer, { dir, memory }: Where): TokenizerAside {
  const sizes = FILES.map((name) => statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0);
  const needed = THREAD_BYTES + MEMORY_PER_BYTE * sizes.reduce((sum, size) => sum + size, 0);
  const fits = () => thread.isRunning() || needed <= SHARE * availableMemory(memory);
  return {
    encode: (prompt, options, signal) => (fits() ? thread.encode({ prompt, options }, signal) : undefined),
    tokenize: (whole, options, signal) => (fits() ? thread.tokenize({ whole, options }, signal) : undefined),
  };
}
