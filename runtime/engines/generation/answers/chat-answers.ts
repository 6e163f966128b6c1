import { randomBytes } from 'node:crypto';
import type { Delta } from '../../../core/delta.js';
import { RunError } from '../../../core/errors.js';
import type { GeneratedText, GenerateOptions } from '../../../core/handles/index.js';
import { type ChatOptions, type ToolSupport, wantsParsing } from '../../../core/tools.js';
import type { ChatTemplate } from '../../chat-templates/chat-template.js';
import type { TextTokenizer } from '../../tokenizers/tokenizer.js';
import { effortVariables, type PreparedChat, prepareChat } from '../../tool-calls/chat-tools.js';
import type { HistoryMessage } from '../../tool-calls/history/adapt.js';
import { type Alphabet, createAlphabet } from '../../tool-calls/parse/alphabet.js';
import { createAnswerParser } from '../../tool-calls/parse/answer-parser.js';
import { probeTemplate, supportOf, type TemplateFacts } from '../../tool-calls/probe/probe.js';
import { askedGrammar } from '../grammar/asked-grammar.js';
import type { WriteAnswer } from '../generate.js';
import { createParsingWriter } from '../output/parsing-writer.js';

/** How the answers of a model are read: what its template says of calls and reasoning. */
export interface ChatAnswers {
  readonly support: ToolSupport;
  /**
   * Prepares a conversation.
   * @throws RunError 400 for calls in it that are none, 422 for options that this model can't do
   */
  ask<Message extends object>(request: ChatRequest<Message>): AskedChat<Message>;
}

export interface ChatRequest<Message extends object> {
  messages: Message[];
  variables: Record<string, unknown>;
  options: GenerateOptions & ChatOptions;
}

/** What the template gets, and how to go on from what it writes. */
export interface AskedChat<Message> {
  messages: Message[];
  variables: Record<string, unknown>;
  options: GenerateOptions;
  /** @returns what the answer is made to begin with, behind this prompt */
  begin(prompt: string): string;
  /** How the answer is told; undefined: as plain text. Known once `begin` was called. */
  writes(): WriteAnswer | undefined;
  /** The answers, checked. @throws RunError 422 for one that calls nothing though it had to */
  checked(pieces: Pieces): Pieces;
}

type Pieces = AsyncGenerator<string | Delta, GeneratedText[]>;

export function createChatAnswers(template: ChatTemplate, tokenizer: TextTokenizer): ChatAnswers {
  const facts = probeTemplate({
    source: template.sources,
    render: (messages, variables, asks) =>
      template.render(messages as never, { variables, continues: false, asks }),
  });
  const markers = JSON.stringify([facts.format, facts.reasoning]);
  // Those that markers are made of come first, since there may be too many.
  const [used, others] = [true, false].map((wanted) =>
    tokenizer.specialTexts.filter((token) => markers.includes(token) === wanted),
  );
  const alphabet = createAlphabet([...used!, ...others!]);
  return {
    support: supportOf(facts),
    ask({ messages, variables, options }) {
      // Tools that must not be called are not shown.
      const hidden = options.tool_choice === 'none' ? { tools: null } : {};
      const given = { ...variables, ...effortVariables(options, facts), ...hidden };
      if (!wantsParsing(options)) return plainChat(messages, given, options);
      const prepared = prepareChat(messages as unknown as HistoryMessage[], given, options, facts);
      if (isPlain(prepared, facts, options))
        return plainChat(prepared.messages as unknown as typeof messages, prepared.variables, options);
      checkOptions(options);
      return parsedChat(prepared, { facts, alphabet, tokenizer, options });
    },
  };
}

/** Whether an answer has nothing to tell apart: no tools, and no thoughts, which a grammar from the first token on leaves out. */
function isPlain(
  { functions, format }: PreparedChat,
  { reasoning }: TemplateFacts,
  options: GenerateOptions,
): boolean {
  if (functions.size > 0) return false;
  return askedGrammar(options) !== undefined || (format === undefined && reasoning === undefined);
}

function plainChat<Message>(
  messages: Message[],
  variables: Record<string, unknown>,
  options: GenerateOptions,
): AskedChat<Message> {
  return {
    ...{ messages, variables, options },
    begin: () => '',
    writes: () => undefined,
    checked: (pieces) => pieces,
  };
}

/** @throws RunError 422 for what would change the calls */
function checkOptions(options: GenerateOptions): void {
  const { skip_special_tokens, clean_up_tokenization_spaces } = options;
  const refuse = (name: string, why: string) =>
    new RunError('unprocessable', `params.${name}: ${why}; leave it out with parse_response`);
  if (skip_special_tokens === false)
    throw refuse('skip_special_tokens', 'special tokens are what calls are told by');
  if (clean_up_tokenization_spaces === true)
    throw refuse('clean_up_tokenization_spaces', 'true would change the arguments of calls');
  const grammar = askedGrammar(options);
  if (grammar) throw refuse(grammar.param, 'the answer could not call tools');
}

interface ParsedInput {
  facts: TemplateFacts;
  alphabet: Alphabet;
  tokenizer: TextTokenizer;
  options: GenerateOptions & ChatOptions;
}

function parsedChat<Message>(
  prepared: PreparedChat,
  { facts, alphabet, tokenizer, options }: ParsedInput,
): AskedChat<Message> {
  const { functions, format, mustCall } = prepared;
  const { reasoning } = facts;
  let forced = '';
  let thinking = false;
  const newParser = () =>
    createAnswerParser({
      ...{ format, reasoning, thinking, tools: functions, alphabet },
      newId: () => newId(facts.shortIds),
      parallel: options.parallel_tool_calls ?? true,
    });
  return {
    messages: prepared.messages as Message[],
    variables: prepared.variables,
    options: { ...options, clean_up_tokenization_spaces: false },
    begin(prompt) {
      thinking = reasoning !== undefined && prompt.trimEnd().endsWith(reasoning.start);
      forced = prepared.forced(prompt);
      return forced;
    },
    writes: () => (startStream, prompt) => {
      const parser = newParser();
      const { specialText } = tokenizer;
      return createParsingWriter({
        ...{ parser, alphabet, specialText, startStream, prompt },
        begun: alphabet.marker(forced),
      });
    },
    checked: (pieces) => (mustCall ? withCalls(pieces) : pieces),
  };
}

async function* withCalls(pieces: Pieces): Pieces {
  const found = yield* pieces;
  if (found.some(({ toolCalls, finish }) => !toolCalls && finish !== 'length'))
    throw new RunError(
      'unprocessable',
      'params.tool_choice: the model wrote no call that can be read; ask with tool_choice auto, or another model',
    );
  return found;
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

function newId(short: boolean): string {
  const bytes = [...randomBytes(short ? 9 : 24)];
  const letters = bytes.map((byte) => LETTERS[byte % LETTERS.length]).join('');
  return short ? letters : `call_${letters}`;
}
