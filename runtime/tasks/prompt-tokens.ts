import * as z from 'zod';
import { conversationParams } from './conversation.js';

/** Of chats: the prompt as it is. */
const apply_chat_template = z
  .boolean()
  .nullish()
  .describe(
    'false: continue the text of the one message as it is, without the template; with continue_final_message the answer repeats it',
  );

/** Parameters of a prompt as it is. */
export const rawParams = {
  apply_chat_template,
  add_special_tokens: z
    .boolean()
    .nullish()
    .describe('false: no BOS before such a prompt; templates hold what is special'),
};

interface Prompted {
  text: string;
  params: Record<string, unknown>;
}

/** Parameters that make a prompt of a text, where there is one of tokens already. */
const OF_TEXTS = ['prefix', 'truncation', 'handle_long_generation'];

/** Refuses two prompts, and what can't be done with tokens. */
export function checkPromptTokens({ text, params }: Prompted, context: z.RefinementCtx): void {
  if (params['prompt_token_ids'] == null) return;
  const refuse = (name: string, message: string) =>
    context.addIssue({ code: 'custom', path: ['params', name], message });
  if (text !== '') refuse('prompt_token_ids', 'stands in place of the text, which must be empty');
  const name = OF_TEXTS.find((one) => params[one] != null && params[one] !== false);
  if (name !== undefined) refuse(name, 'does not go with params.prompt_token_ids');
}

interface Conversation {
  messages: readonly { content?: unknown }[];
  params: Record<string, unknown>;
}

/** What only templates read. */
const OF_TEMPLATES = ['documents', ...Object.keys(conversationParams)].filter(
  (name) => name !== 'continue_final_message',
);

/** A prompt without the template is one text, or tokens. */
export function checkRawPrompt({ messages, params }: Conversation, context: z.RefinementCtx): void {
  const refuse = (name: string, message: string) =>
    context.addIssue({ code: 'custom', path: ['params', name], message });
  if (params['apply_chat_template'] !== false) {
    const name = ['prompt_token_ids', 'add_special_tokens'].find((one) => params[one] != null);
    if (name !== undefined) refuse(name, 'needs params.apply_chat_template to be false');
    return;
  }
  const text = rawPromptOf(messages);
  if (text === undefined) return refuse('apply_chat_template', 'without it there is one message, a text');
  const name = OF_TEMPLATES.find((one) => params[one] != null && params[one] !== false);
  if (name !== undefined) return refuse(name, 'does not go with params.apply_chat_template false');
  checkPromptTokens({ text, params }, context);
}

/** The text of a conversation that is a prompt; undefined where it is none. */
export function rawPromptOf(messages: readonly { content?: unknown }[]): string | undefined {
  const [first] = messages;
  return messages.length === 1 && typeof first?.content === 'string' ? first.content : undefined;
}
