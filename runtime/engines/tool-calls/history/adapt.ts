import { RunError } from '../../../core/errors.js';
import type { TemplateFacts } from '../probe/probe.js';

export type HistoryMessage = Record<string, unknown> & { role: string };

interface HistoryCall {
  id: string;
  name: string;
  /** JSON text of an object. */
  arguments: string;
}

/**
 * A conversation with calls and their results as the template takes it: arguments as an object or a text, ids of the length that it
 * insists on, and in words where it takes no calls.
 * @throws RunError 400 for calls without a name or with arguments that are no object
 */
export function adaptHistory(messages: readonly HistoryMessage[], facts: TemplateFacts): HistoryMessage[] {
  const known = new Map<string, HistoryCall>();
  const ids = createIds(facts, known);
  return messages.map((message, i) => {
    if (message.role === 'tool' || message.role === 'function')
      return resultMessage(message, { facts, known, ids });
    const { tool_calls: given, reasoning_content: thought, ...rest } = message;
    const thinking = thought == null ? {} : { [facts.reasoningKey]: thought };
    if (!Array.isArray(given) || given.length === 0) return { ...rest, ...thinking };
    const calls = given.map((call, j) => readCall(call, `messages.${i}.tool_calls.${j}`));
    for (const call of calls) known.set(call.id, call);
    return { ...callMessage(rest, calls, { facts, ids }), ...thinking };
  });
}

function readCall(call: unknown, path: string): HistoryCall {
  const { id, function: called } = objectOf(call) ?? {};
  const { name, arguments: given } = objectOf(called) ?? {};
  if (typeof name !== 'string' || name === '')
    throw new RunError('invalid_input', `${path}.function.name: is required`);
  const text = typeof given === 'string' ? given : JSON.stringify(given ?? {});
  if (!objectOf(parsed(text === '' ? '{}' : text)))
    throw new RunError('invalid_input', `${path}.function.arguments: must be JSON of an object`);
  return { id: typeof id === 'string' ? id : '', name, arguments: text === '' ? '{}' : text };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const objectOf = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;

type Ids = (id: string) => string;

/** Ids as the template takes them. */
function createIds({ shortIds, idsAreNames }: TemplateFacts, known: ReadonlyMap<string, HistoryCall>): Ids {
  const given = new Map<string, string>();
  return (id) => {
    if (idsAreNames) {
      const made = given.get(id) ?? `functions.${known.get(id)?.name ?? id}:${given.size}`;
      given.set(id, made);
      return made;
    }
    if (!shortIds || /^[a-zA-Z0-9]{9}$/.test(id)) return id;
    const made = given.get(id) ?? `call${String(given.size).padStart(5, '0')}`;
    given.set(id, made);
    return made;
  };
}

function callMessage(
  message: HistoryMessage,
  calls: readonly HistoryCall[],
  { facts, ids }: { facts: TemplateFacts; ids: Ids },
): HistoryMessage {
  if (facts.argumentsForm === undefined) {
    const written = calls.map(({ name, arguments: given }) => ({ name, arguments: parsed(given) }));
    const said = textOf(message['content']);
    const text = inWords(written, facts);
    return { ...message, content: said === '' ? text : `${said}\n${text}` };
  }
  const form = facts.argumentsForm;
  const content = message['content'] ?? (facts.emptyContent ? '' : null);
  const tool_calls = calls.map(({ id, name, arguments: given }) => ({
    ...{ id: ids(id), type: 'function' },
    function: { name, arguments: form === 'object' ? parsed(given) : given },
  }));
  return { ...message, content, tool_calls };
}

/** Calls as text, for templates that write none. */
function inWords(calls: readonly object[], { format }: TemplateFacts): string {
  if (format.kind !== 'json') return JSON.stringify({ tool_calls: calls });
  return [format.starts[0] ?? '', JSON.stringify(calls), format.ends[0] ?? ''].join('');
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((block) => String(objectOf(block)?.['text'] ?? '')).join('');
}

function resultMessage(
  message: HistoryMessage,
  { facts, known, ids }: { facts: TemplateFacts; known: ReadonlyMap<string, HistoryCall>; ids: Ids },
): HistoryMessage {
  const { role: _, tool_call_id: id, name: given, content, ...rest } = message;
  const called = typeof id === 'string' ? known.get(id) : undefined;
  const name = typeof given === 'string' && given !== '' ? given : called?.name;
  if (facts.argumentsForm === undefined || !facts.toolRole) {
    const result = { ...(name === undefined ? {} : { name }), content: textOf(content) };
    return { role: 'user', content: JSON.stringify({ tool_response: result }) };
  }
  return {
    ...rest,
    ...{ role: 'tool', content: content ?? '' },
    ...(typeof id === 'string' ? { tool_call_id: ids(id) } : {}),
    ...(name === undefined ? {} : { name }),
  };
}
