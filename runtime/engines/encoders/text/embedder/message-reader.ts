import type { ChatMessage } from '../../../../core/handles/index.js';
import type { ModelReaders } from '../../../../core/readers.js';
import { type ChatTemplate, loadChatTemplate } from '../../../chat-templates/chat-template.js';
import type { PatientTokenizer } from '../../../tokenizers/patient-tokenizer.js';
import type { Encoding } from '../../../tokenizers/tokenizer.js';
import type { EncodingOptions } from '../../../tokenizers/encoding.js';
import type { Truncation } from '../../../tokenizers/truncation.js';
import type { SentenceModules } from './sentence-modules.js';

/** Reads a text as what a user says, below a prompt as the system's word. */
export type ReadMessage = (
  text: string,
  prompt: string,
  options?: { truncation?: Truncation | undefined; signal?: AbortSignal | undefined },
) => Promise<Encoding>;

export interface ReaderInput {
  dir: string;
  tokenizer: PatientTokenizer;
  /** Of model.json: whether templates take plain strings, whatever they look like. */
  messages: ModelReaders['messages'];
  modules: SentenceModules;
  /** Longest row in tokens. */
  limit: number | undefined;
}

/**
 * How sentence-transformers reads texts where its settings say so, and where it makes its own modules for a model with a
 * chat template. Undefined for all others, which read the plain text.
 */
export async function loadMessageReader(input: ReaderInput): Promise<ReadMessage | undefined> {
  const { modules, tokenizer } = input;
  if (modules.listed && modules.messageFormat === undefined) return undefined;
  const template = await loadChatTemplate(input.dir, tokenizer.config);
  if (!template) return undefined;
  const blocks = inBlocks(input, template);
  const variables = modules.templateArguments;
  const asks = variables['add_generation_prompt'] === true;
  const rowOf = (text: string, prompt: string, cut: EncodingOptions = {}, signal?: AbortSignal) => {
    const messages = messagesOf(text, prompt).map((message) => (blocks ? inBlock(message) : message));
    const rendered = template.render(messages, { variables, continues: false, asks });
    return tokenizer.encode(rendered, { specialTokens: false, ...cut }, signal);
  };
  return async (text, prompt, { truncation, signal } = {}) => {
    const row = await rowOf(text, prompt, { maxLength: input.limit, truncation }, signal);
    if (row.ids.length < (input.limit ?? Infinity) || truncation === 'do_not_truncate') return row;
    const [one, other] = [await rowOf('0', prompt), await rowOf('1 2 3 4', prompt)];
    const end = commonEnd(one.ids, other.ids);
    return { ...row, ids: withEnd(row.ids, end) };
  };
}

/** What templates hold that take contents as lists of blocks. */
const BLOCK_SIGNS = ['content[0]', '.type', "'type'", '"type"', 'message.content['];

function inBlocks({ modules, messages }: ReaderInput, { source }: ChatTemplate): boolean {
  const { messageFormat = 'auto' } = modules;
  if (messageFormat !== 'auto') return messageFormat === 'structured';
  if (messages === 'plain') return false;
  return BLOCK_SIGNS.some((sign) => source.includes(sign));
}

function messagesOf(text: string, prompt: string): ChatMessage[] {
  const said: ChatMessage = { role: 'user', content: text };
  return prompt === '' ? [said] : [{ role: 'system', content: prompt }, said];
}

function inBlock(message: ChatMessage): ChatMessage {
  return { ...message, content: [{ type: 'text', text: String(message.content) }] };
}

/** What the template puts behind every text: the tokens in which two different ones end alike. */
function commonEnd(one: readonly number[], other: readonly number[]): number[] {
  let count = 0;
  const least = Math.min(one.length, other.length);
  while (count < least && one.at(-1 - count) === other.at(-1 - count)) count++;
  return count === least ? [] : one.slice(one.length - count);
}

/** A row that was cut, with the end of the template in place of its last tokens. */
function withEnd(ids: readonly number[], end: readonly number[]): number[] {
  const kept = end.slice(Math.max(0, end.length - ids.length));
  return [...ids.slice(0, ids.length - kept.length), ...kept];
}
