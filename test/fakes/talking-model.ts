import type { Delta } from '../../runtime/core/delta.js';
import type { FinishReason } from '../../runtime/core/usage.js';
import type { ModelService } from '../../runtime/http/service.js';
import { mounted, type Mount } from './dialects.js';
import { secret } from './gateway.js';

/** A model that thinks, says something, and calls two tools. */
const PIECES: Delta[] = [
  { reasoning: 'hm ' },
  { reasoning: 'yes' },
  { text: 'Let me ' },
  { text: 'look.' },
  { call: { index: 0, id: 'call_a', name: 'weather' } },
  { call: { index: 0, arguments: '{"city": ' } },
  { call: { index: 0, arguments: '"Wien"}' } },
  { call: { index: 1, id: 'call_b', name: 'time' } },
  { call: { index: 1, arguments: '{}' } },
];

export const CALLS = [
  { id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{"city": "Wien"}' } },
  { id: 'call_b', type: 'function', function: { name: 'time', arguments: '{}' } },
];

const ANSWER = {
  ...{ role: 'assistant', content: 'Let me look.', reasoning_content: 'hm yes' },
  tool_calls: CALLS,
};

/** Bodies that models were asked, since the last test. */
export const seen: Record<string, unknown>[] = [];

/** The model; `pieces` are streamed, `output` is the whole answer. */
export function model(mount: Mount, pieces = PIECES, output: object = ANSWER): Promise<string> {
  const finish: FinishReason = pieces === PIECES ? 'tool_calls' : 'stop';
  const run: ModelService['run'] = async (input, { onDelta, onUsage }) => {
    const { params } = input as unknown as { params: Record<string, unknown> };
    seen.push(input);
    onUsage?.({ tokensIn: 7, tokensOut: params['count_only'] ? 0 : 5, reasoningTokens: 2, finish: [finish] });
    if (!params['count_only']) for (const piece of pieces) onDelta?.(piece);
    return output;
  };
  return mounted(mount, { task: 'chat', run });
}

/** A model that says one text. */
export const says = (mount: Mount, text: string) =>
  model(mount, [{ text }], { role: 'assistant', content: text });

/** Posts JSON. */
export async function post(url: string, body: object, headers: Record<string, string> = {}) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const ignored = answer.headers.get('x-slipway-ignored');
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    ignored,
    text: await answer.text(),
  };
}

/** The value of an answer. */
export const json = async (answer: ReturnType<typeof post>) =>
  JSON.parse((await answer).text) as Record<string, unknown>;

/** Events of a stream, with their names. */
export const events = (text: string) =>
  text
    .trim()
    .split('\n\n')
    .map((event) => {
      const data = /^data: (.*)$/m.exec(event)![1]!;
      return { name: /^event: (.*)$/m.exec(event)?.[1], data: JSON.parse(data) as Record<string, unknown> };
    });

export const parameters = { type: 'object', properties: { city: { type: 'string' } } };
export const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }];
export const messages = [{ role: 'user' as const, content: 'How is it in Wien?' }];
