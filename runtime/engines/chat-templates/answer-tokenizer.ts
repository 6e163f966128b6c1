import { setImmediate as nextTurn } from 'node:timers/promises';
import { RunError } from '../../core/errors.js';
import type {
  TokenizedChat,
  TokenizedTexts,
  TokenizerAnswer,
  TokenizerRequest,
  TokenSpan,
} from '../../core/handles/index.js';
import { readModelConfig } from '../repository/model-config.js';
import { namedPrompt, readPromptSettings, type SentencePrompts } from '../repository/sentence-prompts.js';
import { contextLengthOf } from '../repository/sequence-lengths.js';
import type { TokenizedText, TokenizeOptions } from '../tokenizers/tokenize.js';
import {
  type EncodeTextOptions,
  type Encoding,
  loadTokenizer,
  type LoadTokenizerOptions,
  type TextTokenizer,
} from '../tokenizers/tokenizer.js';
import { type ChatTemplate, loadChatTemplate } from './chat-template.js';

/** Answers what is asked of a model's tokenizer. */
export type AnswerTokenizer = (request: TokenizerRequest, signal: AbortSignal) => Promise<TokenizerAnswer>;

/** Milliseconds that other work waits at most between two texts. */
const TURN_MS = 10;

/**
 * Requests to the tokenizer of a model, whatever its head. It is loaded when it is first asked, beside the one that the head
 * reads with, which may be another (lower-cased).
 */
export const answerTokenizer = (dir: string): AnswerTokenizer => openTokenizerWork(dir).answer;

/** The same with what is opened otherwise. */
export const answerWith = (open: () => Promise<TokenizerParts>): AnswerTokenizer => workWith(open).answer;

/** A text that is tokenised as `TextTokenizer.encode` does. */
export interface PromptText {
  prompt: string;
  options: EncodeTextOptions;
}

/** A text that is tokenised as `TextTokenizer.tokenize` does. */
export interface WholeText {
  whole: string;
  options: TokenizeOptions;
}

/** All that a tokenizer is asked apart from its model. */
export interface TokenizerWork {
  answer: AnswerTokenizer;
  /** @throws RunError as `TextTokenizer.encode` */
  encode(text: PromptText): Promise<Encoding>;
  tokenize(text: WholeText): Promise<TokenizedText>;
}

export const openTokenizerWork = (dir: string, how?: LoadTokenizerOptions): TokenizerWork =>
  workWith(() => openParts(dir, how));

function workWith(open: () => Promise<TokenizerParts>): TokenizerWork {
  let opened: Promise<TokenizerParts> | undefined;
  const parts = () =>
    (opened ??= open().catch((error: unknown) => {
      opened = undefined;
      throw error;
    }));
  return {
    answer: async (request, signal) => answer(await parts(), request, signal),
    encode: async ({ prompt, options }) => (await parts()).tokenizer.encode(prompt, options),
    tokenize: async ({ whole, options }) => (await parts()).tokenizer.tokenize(whole, options),
  };
}

export interface TokenizerParts {
  tokenizer: TextTokenizer;
  template: ChatTemplate | undefined;
  maxLength: number | undefined;
  /** Of sentence-transformers, where the repository has such modules. */
  prompts?: SentencePrompts | undefined;
}

async function openParts(dir: string, how?: LoadTokenizerOptions): Promise<TokenizerParts> {
  const [tokenizer, config, { prompts }] = await Promise.all([
    loadTokenizer(dir, how),
    readModelConfig(dir),
    readPromptSettings(dir),
  ]);
  const template = await loadChatTemplate(dir, tokenizer.config);
  return { tokenizer, template, prompts, maxLength: contextLengthOf(config) ?? tokenizer.modelMaxLength };
}

/** @throws RunError 400 for a token that there is not, 422 for a conversation that the template can't write */
async function answer(
  { tokenizer, template, maxLength, prompts }: TokenizerParts,
  request: TokenizerRequest,
  signal: AbortSignal,
): Promise<TokenizerAnswer> {
  if ('info' in request) return { info: infoOf(tokenizer, template) };
  if ('decode' in request) {
    const skipSpecialTokens = request.skip_special_tokens ?? true;
    const texts = await inTurns(request.decode, signal, (ids) => {
      checkIds(tokenizer, ids);
      return tokenizer.decode(ids, { skipSpecialTokens });
    });
    return { texts };
  }
  const isChat = 'messages' in request;
  const texts = isChat ? [written(template, request)] : prompted(request, prompts ?? {});
  // Templates write what is special.
  const specialTokens = request.add_special_tokens ?? !isChat;
  const tokens = await inTurns(texts, signal, (text) => spansOf(tokenizer, text, specialTokens));
  return { tokens, max_length: maxLength ?? null };
}

function prompted({ encode, prompt_name: name }: TokenizedTexts, prompts: SentencePrompts): string[] {
  if (name == null) return encode;
  const prompt = namedPrompt(prompts, name, 'tokenizer.prompt_name');
  return encode.map((text) => prompt + text);
}

function infoOf({ config }: TextTokenizer, template: ChatTemplate | undefined): Record<string, unknown> {
  return { ...config, ...(template && { chat_template: template.source }) };
}

function written(template: ChatTemplate | undefined, request: TokenizedChat): string {
  if (!template) throw new RunError('unprocessable', 'this model has no chat template');
  return template.render(request.messages, {
    variables: request.variables ?? {},
    continues: request.continue_final_message ?? false,
    asks: request.add_generation_prompt ?? true,
  });
}

async function inTurns<T, R>(items: readonly T[], signal: AbortSignal, make: (item: T) => R): Promise<R[]> {
  const made: R[] = [];
  let pause = Date.now() + TURN_MS;
  for (const item of items) {
    made.push(make(item));
    if (Date.now() < pause) continue;
    await nextTurn();
    signal.throwIfAborted();
    pause = Date.now() + TURN_MS;
  }
  return made;
}

function checkIds(tokenizer: TextTokenizer, ids: readonly number[]): void {
  const unknown = ids.find((id) => tokenizer.tokenOf(id) === undefined);
  if (unknown === undefined) return;
  throw new RunError('invalid_input', `tokenizer.decode: there is no token ${unknown}`);
}

function spansOf(tokenizer: TextTokenizer, text: string, specialTokens: boolean): TokenSpan[] {
  const [row] = tokenizer.tracedRows([tokenizer.tokenize(text, { traces: true })]);
  const offsets = byteOffsets(text);
  const bytes = Buffer.from(text);
  return row!.ids.flatMap((id, i): TokenSpan[] => {
    const isInText = row!.sequences[i] !== undefined;
    if (!isInText && !specialTokens) return [];
    const token = tokenizer.tokenOf(id) ?? '';
    if (!isInText) return [{ id, text: token, token, special: true, start: null, stop: null }];
    const [start, stop] = [offsets[row!.starts[i]!]!, offsets[row!.ends[i]!]!];
    return [{ id, text: bytes.toString('utf8', start, stop), token, special: false, start, stop }];
  });
}

/** Where each code point of a text begins in UTF-8, and where the last one ends. */
function byteOffsets(text: string): Uint32Array {
  const offsets = new Uint32Array(text.length + 1);
  let [at, bytes] = [0, 0];
  for (const point of text) {
    offsets[at++] = bytes;
    const code = point.codePointAt(0)!;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  offsets[at] = bytes;
  return offsets;
}
