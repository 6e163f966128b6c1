import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createDispatcher } from '../../runtime/network/dispatcher.js';
import { DIRECT } from '../../runtime/network/outgoing-settings.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { type Remote, remoteField } from '../../gateway/remote/remote.js';
import { remoteUpstream, type RemoteUpstreamOptions, withRemotes } from '../../gateway/remote/upstream.js';
import { staticUpstream } from '../../gateway/upstream/static.js';
import { gateway, type GivenGateway, secret, started } from './gateway.js';
import { messages } from './talking-model.js';

/** Providers of closed models that tests make up, on this machine. */

/** The key that providers want. */
export const PROVIDER_KEY = 'sk-provider-5b2f9c';

/** A request as a provider has got it. */
export interface Asked {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

export type Answer = (response: ServerResponse, asked: Asked) => void | Promise<void>;

export interface FakeProvider {
  url: string;
  asked: Asked[];
  /** Requests whose answer has not ended. */
  open(): number;
}

export async function provider(answer: Answer): Promise<FakeProvider> {
  const all: Asked[] = [];
  let open = 0;
  const server = createServer(async (request, response) => {
    open++;
    response.once('close', () => open--);
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const one = { path: request.url!, headers: request.headers, body: JSON.parse(text) as Asked['body'] };
    all.push(one);
    await answer(response, one);
  });
  return { url: await started(server), asked: all, open: () => open };
}

/** A file with the key, at a place of its own. */
export async function keyFile(key = PROVIDER_KEY): Promise<string> {
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'slipway-key-')), 'key');
  await writeFile(file, `${key}\n`);
  return file;
}

export interface RemoteGateway extends GivenGateway {
  task?: TaskId;
  /** Of the upstream. */
  options?: Partial<RemoteUpstreamOptions>;
  /** Lines that the upstream logs. */
  lines?: string[];
}

/** Fields of `remote` in a catalogue. */
export type RemoteFields = Partial<Omit<Remote, 'limits'>> & { limits?: object };

/** A gateway with one model, `org/remote`, that a provider serves; gives the address below which models lie. */
export async function remoteGateway(
  fields: RemoteFields & { url: string },
  { task = 'chat', options = {}, lines = [], parts = {}, ...given }: RemoteGateway = {},
): Promise<string> {
  const remote = remoteField.parse({ kind: 'openai', model: 'gpt-x', keyFile: await keyFile(), ...fields });
  const remotes = remoteUpstream({
    openDispatcher: () => createDispatcher(DIRECT),
    isRemote: () => true,
    log: (line) => lines.push(line),
    ...{ mostWaitMs: 2000, ...options },
  });
  return gateway({
    ...given,
    models: [{ modelId: 'org/remote', task, addresses: [], ramRequired: 0, remote }],
    parts: { upstream: withRemotes(staticUpstream(), remotes), ...parts },
  });
}

/** Answers JSON. */
export const sends =
  (json: object, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(json));
  };

/** Streams events, as text. */
export const streams =
  (
    events: readonly string[],
    end: (response: ServerResponse) => void = (response) => response.end(),
  ): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) response.write(event);
    end(response);
  };

/** Gives the first answer first, and so on; the last again and again. */
export const inTurn = (...answers: Answer[]): Answer => {
  let turn = 0;
  return (response, asked) => answers[Math.min(turn++, answers.length - 1)]!(response, asked);
};

const data = (value: object | string) =>
  `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;

/** A chunk of OpenAI's stream. */
export const chunk = (delta: object, finish: string | null = null) =>
  data({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });

export const DONE = data('[DONE]');

export const USAGE = { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 };

/** Calls as providers write them. */
export const MADE = [
  { id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{"city": "Wien"}' } },
];

interface Saying {
  content?: string;
  reasoning?: string;
  calls?: typeof MADE;
  usage?: object | null;
}

/** An answer of OpenAI's chat, whole or as a stream, as it is asked. */
export const openAiAnswer =
  ({ content = 'Let me look.', reasoning = '', calls = [], usage = USAGE }: Saying = {}): Answer =>
  (response, asked) => {
    const finish = calls.length > 0 ? 'tool_calls' : 'stop';
    if (asked.body['stream'] !== true) {
      const message = {
        ...{ role: 'assistant', content },
        ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
      };
      const choices = [{ index: 0, message, finish_reason: finish }];
      return sends({ object: 'chat.completion', choices, ...(usage ? { usage } : {}) })(response, asked);
    }
    const events = [
      chunk({ role: 'assistant', content: '' }),
      ...(reasoning === '' ? [] : [chunk({ reasoning_content: reasoning })]),
      ...content.split(/(?<= )/).map((text) => chunk({ content: text })),
      ...calls.flatMap((call, index) => [
        chunk({ tool_calls: [{ index, ...call, function: { ...call.function, arguments: '' } }] }),
        ...call.function.arguments
          .split(/(?<= )/)
          .map((text) => chunk({ tool_calls: [{ index, function: { arguments: text } }] })),
      ]),
      chunk({}, finish),
      ...(usage ? [data({ choices: [], usage })] : []),
      DONE,
    ];
    return streams(events)(response, asked);
  };

/** An event of Anthropic's stream. */
export const named = (type: string, fields: object = {}) => `event: ${type}\n${data({ type, ...fields })}`;

/** An answer of Anthropic's messages: it thinks, says something, calls a tool. */
export const anthropicAnswer =
  (stop: object = { stop_reason: 'tool_use' }): Answer =>
  (response, asked) => {
    if (asked.path.endsWith('/count_tokens')) return sends({ input_tokens: 17 })(response, asked);
    const block = (index: number, content_block: object, ...deltas: object[]) => [
      named('content_block_start', { index, content_block }),
      ...deltas.map((delta) => named('content_block_delta', { index, delta })),
      named('content_block_stop', { index }),
    ];
    const events = [
      named('message_start', {
        message: { usage: { input_tokens: 7, cache_read_input_tokens: 10, output_tokens: 1 } },
      }),
      named('ping'),
      ...block(
        0,
        { type: 'thinking', thinking: '' },
        { type: 'thinking_delta', thinking: 'hm' },
        { type: 'signature_delta', signature: 's' },
      ),
      ...block(
        1,
        { type: 'text', text: '' },
        { type: 'text_delta', text: 'Let me ' },
        { type: 'text_delta', text: 'look.' },
      ),
      ...block(
        2,
        { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
        { type: 'input_json_delta', partial_json: '{"city": ' },
        { type: 'input_json_delta', partial_json: '"Wien"}' },
      ),
      ...block(3, { type: 'tool_use', id: 'toolu_2', name: 'time', input: {} }),
      named('message_delta', { delta: stop, usage: { output_tokens: 5 } }),
      named('message_stop'),
    ];
    return streams(events)(response, asked);
  };

/** Posts to the model's own address. */
export async function run(base: string, body: object, headers: Record<string, string> = {}) {
  const answer = await fetch(`${base}/org/remote`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** A conversation with all that may be in one. */
export const history = [
  { role: 'system', content: 'Be short.' },
  ...messages,
  {
    role: 'assistant',
    content: '',
    reasoning_content: 'so',
    tool_calls: [{ type: 'function', function: { name: 'weather', arguments: { city: 'Wien' } } }],
  },
  { role: 'tool', content: 'rain', name: 'weather' },
  { role: 'user', content: [{ type: 'text', text: 'Well?' }] },
];

/** What a caller gets who asks once. */
export async function ask(
  answer: Answer,
  fields: RemoteFields = {},
  given: RemoteGateway & { body?: object } = {},
) {
  const fake = await provider(answer);
  const { body = { messages }, ...rest } = given;
  const base = await remoteGateway({ url: fake.url, ...fields }, rest);
  const { status, headers, text } = await run(base, body);
  const { error, output } = JSON.parse(text) as { error: string; output: unknown };
  expect(output).toBeNull();
  return { ...fake, base, status, error, retryAfter: headers.get('retry-after') };
}

/** An answer that refuses. */
export const refusal = (status: number, message: string, headers = {}, more = {}) =>
  sends({ error: { message, type: 'x', ...more } }, status, headers);
