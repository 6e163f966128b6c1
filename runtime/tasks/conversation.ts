import * as z from 'zod';
import { logprobs, probabilitiesOf, promptLogprobs, type Said, singleAnswer } from './generated.js';
import { toolParams } from './tool-params.js';

/** Arguments of conversations. */
export const conversationParams = {
  chat_template_kwargs: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('more variables for the chat template'),
  continue_final_message: z
    .boolean()
    .nullish()
    .describe('go on with the last message; true by default where it is the assistant’s'),
  ...toolParams,
};

interface Begun {
  role: string;
  content?: string | readonly { type: string; text?: string }[] | null | undefined;
}

/** The last text of the last message, where the model goes on with it. */
export function begunText(messages: readonly Begun[], continues: boolean | null | undefined): string {
  const last = messages.at(-1)!;
  if (!(continues ?? last.role === 'assistant')) return '';
  const { content: from } = last;
  return typeof from === 'string' ? from : (from?.findLast(({ type }) => type === 'text')?.text ?? '');
}

/** What a template gets beside the messages; what is null is not given. */
export function templateVariables(given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value != null));
}

/** A message. Other keys (name, tool_calls, …) are passed on to the template unchanged. */
export function messageWith<Content extends z.ZodType>(content: Content) {
  return z
    .looseObject({ role: z.string().min(1), content: content.nullish() })
    .refine((given) => given.content != null || given.role === 'assistant', {
      message: 'is required',
      path: ['content'],
    });
}

const toolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

const answer = z.object({
  role: z.literal('assistant'),
  /** Null where the answer calls tools and says nothing; only with parse_response. */
  content: z.string().nullable(),
  reasoning_content: z.string().optional(),
  tool_calls: z.array(toolCall).optional(),
  logprobs: logprobs.optional(),
  prompt_logprobs: promptLogprobs.optional(),
});

/** One message, or several where several answers were asked for. */
export const conversationAnswer = z.union([answer, z.array(answer)]);

/** What was generated as the assistant's message, behind the text that it goes on with. */
export function asAssistant(
  found: readonly Said[],
  messages: readonly Begun[],
  continues: boolean | null | undefined,
): z.output<typeof conversationAnswer> {
  const begun = begunText(messages, continues);
  return singleAnswer(
    found.map((one) => ({
      role: 'assistant' as const,
      content: ((continues && one.promptText) || begun) + one.text || (one.toolCalls ? null : ''),
      ...(one.reasoning === undefined ? {} : { reasoning_content: one.reasoning }),
      ...(one.toolCalls ? { tool_calls: [...one.toolCalls] } : {}),
      ...probabilitiesOf(one),
    })),
  );
}
