import { randomUUID } from 'node:crypto';
import type { ToolCall } from '../../core/delta.js';
import type { Usage } from '../../core/usage.js';
import type { ChatAnswer } from '../chat/answer.js';
import type { ChatRequest } from '../chat/request.js';
import type { ResponsesBody } from './body.js';

type Status = 'in_progress' | 'completed' | 'incomplete';

/** An id with a prefix, such as `resp_…`. */
export const newId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll('-', '')}`;

export const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });
export const reasoningPart = (text: string) => ({ type: 'reasoning_text', text });

export const messageItem = (id: string, text: string | undefined, status: Status) => ({
  ...{ id, type: 'message', status, role: 'assistant' },
  content: text === undefined ? [] : [textPart(text)],
});

export const reasoningItem = (id: string, text: string | undefined, status: Status) => ({
  ...{ id, type: 'reasoning', status, summary: [] },
  content: text === undefined ? [] : [reasoningPart(text)],
});

export const callItem = (id: string, { id: call_id, function: called }: ToolCall, status: Status) => ({
  ...{ id, type: 'function_call', status, call_id },
  ...{ name: called.name, arguments: called.arguments },
});

/** All items of a whole answer. */
export function itemsOf({ content, reasoning, calls, finish }: ChatAnswer): object[] {
  const status = finish === 'length' ? 'incomplete' : 'completed';
  const hasMessage = content !== '' || calls.length === 0;
  return [
    ...(reasoning === '' ? [] : [reasoningItem(newId('rs'), reasoning, 'completed')]),
    ...(hasMessage ? [messageItem(newId('msg'), content, status)] : []),
    ...calls.map((call) => callItem(newId('fc'), call, 'completed')),
  ];
}

/** A response without its status, output and usage, which repeats what was asked for. */
export function responseHead({ model }: ChatRequest, given: ResponsesBody) {
  return {
    ...{ id: newId('resp'), object: 'response', created_at: Math.floor(Date.now() / 1000) },
    model: model.modelId,
    ...{ error: null, incomplete_details: null },
    instructions: given.instructions ?? null,
    max_output_tokens: given.max_output_tokens ?? null,
    metadata: given.metadata ?? {},
    parallel_tool_calls: given.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: { effort: given.reasoning?.effort ?? null, summary: null },
    store: false,
    temperature: given.temperature ?? null,
    text: { format: given.text?.format ?? { type: 'text' } },
    tool_choice: given.tool_choice ?? 'auto',
    tools: given.tools ?? [],
    top_p: given.top_p ?? null,
    truncation: 'disabled',
  };
}

/** How a response ended. */
export function endOf(finish: ChatAnswer['finish'], usage: Usage | undefined) {
  const cut = finish === 'length';
  return {
    status: cut ? 'incomplete' : 'completed',
    incomplete_details: cut ? { reason: 'max_output_tokens' } : null,
    usage: usage ? usageOf(usage) : null,
  };
}

function usageOf({ tokensIn, tokensOut = 0, reasoningTokens: reasoning_tokens = 0 }: Usage) {
  return {
    ...{ input_tokens: tokensIn, input_tokens_details: { cached_tokens: 0 } },
    ...{ output_tokens: tokensOut, output_tokens_details: { reasoning_tokens } },
    total_tokens: tokensIn + tokensOut,
  };
}
