import { RunError } from '../../runtime/core/errors.js';
import { stringifyNumbers } from '../../runtime/wire/python-numbers.js';
import type { RemoteCall } from './kind.js';

/** A block of a message, as tasks have read it. */
export interface Block {
  type: string;
  text?: string;
  url?: string;
  base64?: string;
}

export interface CallMade {
  id: string;
  name: string;
  /** JSON text. */
  arguments: string;
}

/** A message of a conversation, with what both kinds of providers need. */
export interface Message {
  role: string;
  content: string | readonly Block[] | null;
  /** Calls of tools by the assistant. */
  calls: readonly CallMade[];
  /** Which call a tool answers. */
  callId?: string | undefined;
  reasoning?: string | undefined;
  name?: string | undefined;
  /** Of the caller's message. */
  path: string;
}

/**
 * The messages of a call. Calls without an id get one, and the results that follow are theirs in their order.
 * @throws RunError 400 that names a message that can't be read
 */
export function messagesOf({ input }: RemoteCall): Message[] {
  const waiting: string[] = [];
  let made = 0;
  return (input['messages'] as Record<string, unknown>[]).map((given, i): Message => {
    const path = `messages.${i}`;
    const { role, content, tool_calls, tool_call_id, reasoning_content, name } = given;
    const calls = ([tool_calls ?? []].flat() as unknown[]).map((call, k) => {
      const read = readCall(call, `${path}.tool_calls.${k}`);
      const id = read.id ?? `call_${made++}`;
      waiting.push(id);
      return { ...read, id };
    });
    const callId = role === 'tool' ? (textIn(tool_call_id) ?? waiting[0]) : undefined;
    if (role === 'tool' && callId === undefined)
      throw new RunError('invalid_input', `${path}: answers no call of a tool; give tool_call_id`);
    if (callId !== undefined && waiting.includes(callId)) waiting.splice(waiting.indexOf(callId), 1);
    return {
      ...{ path, calls, callId, role: role as string, content: (content ?? null) as Message['content'] },
      ...{ reasoning: textIn(reasoning_content), name: textIn(name) },
    };
  });
}

const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

function readCall(call: unknown, path: string): Omit<CallMade, 'id'> & { id: string | undefined } {
  const { id, function: made } = (call ?? {}) as {
    id?: unknown;
    function?: { name?: unknown; arguments?: unknown };
  };
  if (typeof made?.name !== 'string')
    throw new RunError('invalid_input', `${path}: needs a function with a name`);
  const { arguments: given = {} } = made;
  return {
    id: textIn(id),
    name: made.name,
    arguments: typeof given === 'string' ? given : stringifyNumbers(given),
  };
}

/** Whether the answer is to go on with the last message. */
export function continues({ input, params }: RemoteCall): boolean {
  const last = (input['messages'] as { role: string }[]).at(-1)!;
  return (params['continue_final_message'] as boolean | undefined) ?? last.role === 'assistant';
}
