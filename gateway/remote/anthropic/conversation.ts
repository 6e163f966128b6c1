import { RunError } from '../../../runtime/core/errors.js';
import type { RemoteCall } from '../kind.js';
import { imageOf } from '../media.js';
import { type Block, type CallMade, type Message, messagesOf } from '../messages.js';

interface Turn {
  role: 'user' | 'assistant';
  content: object[];
}

/**
 * A conversation as Anthropic's interface has it: what the system says apart, results of tools in a turn of the user.
 * @throws RunError 400 that names what it has no place for
 */
export async function conversationOf(call: RemoteCall): Promise<{ system?: string; messages: Turn[] }> {
  const all = messagesOf(call);
  const first = all.findIndex(({ role }) => role !== 'system');
  const leading = first < 0 ? all : all.slice(0, first);
  const system = leading.map(textOf).filter(Boolean).join('\n\n');
  const messages: Turn[] = [];
  for (const message of all.slice(leading.length)) addTurn(messages, await turnOf(message));
  return { ...(system === '' ? {} : { system }), messages };
}

/** Turns of one role become one, since all results of tools have to come together. */
function addTurn(turns: Turn[], turn: Turn): void {
  const last = turns.at(-1);
  if (last?.role === turn.role) last.content.push(...turn.content);
  else if (turn.content.length > 0) turns.push(turn);
}

async function turnOf(message: Message): Promise<Turn> {
  const { role, calls, callId, path } = message;
  if (role === 'user') return { role, content: await blocksOf(message) };
  if (role === 'assistant')
    return { role, content: [...(await blocksOf(message)), ...calls.map((made) => toolUse(made, path))] };
  if (role === 'tool') {
    const content = await blocksOf(message);
    return {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: callId, ...(content.length > 0 ? { content } : {}) }],
    };
  }
  const hint = role === 'system' ? 'put it first' : 'there are system, user, assistant and tool';
  throw new RunError('invalid_input', `${path}.role: ${role} has no place here; ${hint}`);
}

function textOf({ content }: Message): string {
  if (!Array.isArray(content)) return (content as string | null) ?? '';
  return (content as readonly Block[]).map(({ text = '' }) => text).join('\n');
}

/** Empty texts are refused there. */
async function blocksOf({ content, path }: Message): Promise<object[]> {
  const blocks: readonly Block[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const filled = blocks.filter(({ type, text }) => type !== 'text' || text !== '');
  return Promise.all(filled.map((block, i) => blockOf(block, `${path}.content.${i}`)));
}

async function blockOf(block: Block, path: string): Promise<object> {
  if (block.type === 'text') return { type: 'text', text: block.text };
  const image = await imageOf(block, path);
  const source =
    'url' in image
      ? { type: 'url', url: image.url }
      : { type: 'base64', media_type: image.mediaType, data: image.base64 };
  return { type: 'image', source };
}

function toolUse({ id, name, arguments: text }: CallMade, path: string): object {
  return { type: 'tool_use', id, name, input: objectIn(text, `${path}.tool_calls`) };
}

function objectIn(text: string, path: string): object {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Told below, as any other text that is no object.
  }
  throw new RunError('invalid_input', `${path}: the arguments have to be an object of JSON`);
}
