import * as z from 'zod';
import { differenceOf } from '../../verify/answer.js';
import type { Check } from '../check.js';
import {
  CheckFailure,
  demand,
  get,
  outputOf,
  post,
  postRaw,
  type ServerUnderTest,
  shown,
} from '../server.js';
import type { Answer } from '../transport.js';

/** Interfaces of other servers: each has to say what POST /run says. */
export const DIALECT_CHECKS: readonly Check[] = [
  check('OpenAI models', async (server) => {
    const { data } = MODELS.parse(jsonOf(await get(server, '/v1/models')));
    const { model, task } = server.described;
    if (data.length === 0 && task !== 'chat' && task !== 'feature-extraction')
      return `OpenAI has no interface for ${task}`;
    demand(
      data.some(({ id }) => id === model),
      `GET /v1/models does not name ${model}`,
    );
    return `${model} is listed`;
  }),
  check('OpenAI chat', async (server) => {
    if (server.described.task !== 'chat') return 'no chat';
    const { choices } = COMPLETION.parse(jsonOf(await post(server, chatBody(server), CHAT)));
    const { content } = choices[0]!.message;
    demand(content === (await writtenBy(server)), `another text than that of POST /run: ${content}`);
    return `the text of POST /run, ${content.length} characters`;
  }),
  check('OpenAI stream', async (server) => {
    if (server.described.task !== 'chat') return 'no chat';
    const answer = await post(server, { ...chatBody(server), stream: true }, CHAT);
    const streamed = streamedText(answer);
    demand(streamed === (await writtenBy(server)), `another text than that of POST /run: ${streamed}`);
    return 'the same text in pieces, and [DONE] at the end';
  }),
  check('OpenAI embeddings', async (server) => {
    if (server.described.task !== 'feature-extraction') return 'no embeddings';
    const vector = z.array(z.number()).safeParse(outputOf(await post(server, server.golden)));
    const { text } = server.golden;
    if (!vector.success || typeof text !== 'string') return 'the model gives a vector for each token';
    const body = { model: server.described.model, input: text };
    const { data } = EMBEDDINGS.parse(jsonOf(await post(server, body, { path: '/v1/embeddings' })));
    const difference = differenceOf(vector.data, data[0]!.embedding);
    demand(difference === undefined, `another vector than that of POST /run: ${difference}`);
    return `${vector.data.length} numbers, as POST /run gives them`;
  }),
  check('OpenAI errors', async (server) => {
    const answer = await postRaw(server, '{"model": ', CHAT);
    demand(answer.status === 400 || answer.status === 404, `expected 400 or 404: ${shown(answer)}`);
    const { error } = FAULT.parse(JSON.parse(answer.bytes.toString('utf8')));
    return `${answer.status}: ${error.message}`;
  }),
  check('KServe health', async (server) => {
    const answer = await get(server, '/v2/health/ready');
    demand(answer.status === 200, `expected 200: ${shown(answer)}`);
    return 'ready';
  }),
  check('tools', async (server) => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const headers = { accept: 'application/json, text/event-stream' };
    const answer = await post(server, message, { path: '/mcp', headers });
    const { tools } = TOOLS.parse(jsonOf(answer)).result;
    return tools.map(({ name }) => name).join(', ');
  }),
];

const CHAT = { path: '/v1/chat/completions' };

const MODELS = z.object({ data: z.array(z.object({ id: z.string() })) });
const COMPLETION = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })).min(1),
});
const EMBEDDINGS = z.object({ data: z.array(z.object({ embedding: z.array(z.number()) })).min(1) });
const FAULT = z.object({ error: z.object({ message: z.string().min(1), type: z.string() }) });
const TOOLS = z.object({ result: z.object({ tools: z.array(z.object({ name: z.string() })).min(1) }) });
const PIECE = z.object({
  choices: z.array(z.object({ delta: z.object({ content: z.string().nullish() }) })),
});

function check(name: string, run: (server: ServerUnderTest) => Promise<string>): Check {
  return { group: 'dialects', name, run };
}

function jsonOf(answer: Answer): unknown {
  demand(answer.status === 200, `expected 200: ${shown(answer)}`);
  return JSON.parse(answer.bytes.toString('utf8'));
}

/** The golden request in OpenAI's words. */
function chatBody({ golden, described }: ServerUnderTest): Record<string, unknown> {
  const { messages, params } = golden as { messages: unknown; params?: { max_new_tokens?: number } };
  return { model: described.model, messages, max_tokens: params?.max_new_tokens ?? 16, temperature: 0 };
}

async function writtenBy(server: ServerUnderTest): Promise<string> {
  return MESSAGE.parse(outputOf(await post(server, server.golden))).content;
}

const MESSAGE = z.object({ content: z.string() });

function streamedText(answer: Answer): string {
  demand(answer.status === 200, `expected 200: ${shown(answer)}`);
  const events = answer.bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length));
  if (events.pop() !== '[DONE]')
    throw new CheckFailure(`the stream does not end with [DONE]: ${shown(answer)}`);
  return events.map((event) => PIECE.parse(JSON.parse(event)).choices[0]?.delta.content ?? '').join('');
}
