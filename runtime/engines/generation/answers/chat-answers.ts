import type { GenerateOptions } from '../../../core/handles/index.js';
import { type ChatOptions, type ToolSupport, wantsParsing } from '../../../core/tools.js';
import type { ChatTemplate } from '../../chat-templates/chat-template.js';
import type { TextTokenizer } from '../../tokenizers/tokenizer.js';
import { effortVariables, type PreparedChat, prepareChat } from '../../tool-calls/chat-tools.js';
import type { HistoryMessage } from '../../tool-calls/history/adapt.js';
import { createAlphabet } from '../../tool-calls/parse/alphabet.js';
import { factsOf } from '../../tool-calls/facts.js';
import { supportOf, type TemplateFacts } from '../../tool-calls/probe/probe.js';
import type { AskedChat } from './asked-chat.js';
import { parsedChat } from './parsed-chat.js';

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

export function createChatAnswers(template: ChatTemplate, tokenizer: TextTokenizer): ChatAnswers {
  const facts = factsOf(template, tokenizer.config);
  const markers = JSON.stringify([facts.format, facts.reasoning]);
  // Those that markers are made of come first, since there may be too many.
  const [used, others] = [true, false].map((wanted) =>
    tokenizer.specialTexts.filter((token) => markers.includes(token) === wanted),
  );
  const alphabet = createAlphabet([...used!, ...others!]);
  const ids = new Map(tokenizer.specialTexts.map((text) => [text, tokenizer.idOf(text)!]));
  return {
    support: supportOf(facts),
    ask({ messages, variables, options }) {
      // Tools that must not be called are not shown.
      const hidden = options.tool_choice === 'none' ? { tools: null } : {};
      const given = { ...variables, ...effortVariables(options, facts), ...hidden };
      if (!wantsParsing(options)) return plainChat(messages, given, options);
      const prepared = prepareChat(messages as unknown as HistoryMessage[], given, options, facts);
      if (isPlain(prepared, facts))
        return plainChat(prepared.messages as unknown as typeof messages, prepared.variables, options);
      return parsedChat(prepared, { facts, alphabet, tokenizer, ids, options });
    },
  };
}

/** Whether an answer has nothing to tell apart: no tools, and no thoughts. */
const isPlain = ({ functions, format }: PreparedChat, { reasoning }: TemplateFacts): boolean =>
  functions.size === 0 && format === undefined && reasoning === undefined;

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
