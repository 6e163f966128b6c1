import { jest } from '@jest/globals';
import { encodeWav } from '../../runtime/core/wav.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { IMAGE } from '../../runtime/tasks/example.js';
import { atRest, bytesOf, leaveAnywhere, leaveAtEveryAwait } from '../fakes/leaving.js';
import { closeWatched, watchedServer } from './watched-server.js';

/** Whoever leaves a model's own server, over whichever interface, and whenever: nothing stays held, and nothing goes on. */

afterEach(closeWatched);

const HEADERS = { authorization: 'K', 'content-type': 'application/json' };
const post = (path: string, body: object | Buffer, headers = {}) =>
  bytesOf('POST', path, { ...HEADERS, ...headers }, Buffer.isBuffer(body) ? body : JSON.stringify(body));

const messages = [{ role: 'user', content: 'x'.repeat(2000) }];
const message = { role: 'assistant', content: 'word' };
const chat = { model: 'm', messages };

/** A form with a file, as the clients send one. */
function form(path: string, type: string, bytes: Buffer): Buffer {
  const part = (head: string) => `--b\r\nContent-Disposition: form-data; ${head}\r\n`;
  const body = Buffer.concat([
    Buffer.from(`${part('name="file"; filename="a"')}Content-Type: ${type}\r\n\r\n`),
    bytes,
    Buffer.from(`\r\n${part('name="model"')}\r\nm\r\n--b--\r\n`),
  ]);
  return post(path, body, { 'content-type': 'multipart/form-data; boundary=b' });
}

interface Case {
  name: string;
  task: TaskId;
  /** Of each run. */
  output: unknown;
  bytes: Buffer;
}

const of = (task: TaskId, output: unknown, requests: Record<string, Buffer>): Case[] =>
  Object.entries(requests).map(([name, bytes]) => ({ name, task, output, bytes }));

const image = Buffer.from(IMAGE, 'base64');
const audio = Buffer.alloc(3000, 1);

const CASES: Case[] = [
  ...of('chat', message, {
    'chat completions': post('/v1/chat/completions', chat),
    'chat completions, a stream': post('/v1/chat/completions', { ...chat, stream: true }),
    'chat completions, a refused body': post('/v1/chat/completions', { ...chat, n: -1 }),
    responses: post('/v1/responses', { model: 'm', input: 'hi' }),
    'responses, a stream': post('/v1/responses', { model: 'm', input: 'hi', stream: true }),
    'Anthropic’s messages': post('/v1/messages', { ...chat, max_tokens: 3 }),
    'Anthropic’s messages, a stream': post('/v1/messages', { ...chat, max_tokens: 3, stream: true }),
    'Anthropic’s count': post('/v1/messages/count_tokens', chat),
    'Ollama’s chat, a stream': post('/api/chat', chat),
    'Ollama’s chat': post('/api/chat', { ...chat, stream: false }),
    'a tool of the Model Context Protocol': post('/mcp', {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'chat', arguments: { messages } },
    }),
  }),
  ...of('text-generation', 'word', {
    'completions, several prompts': post('/v1/completions', { model: 'm', prompt: ['a', 'b', 'c'] }),
    'completions, a stream': post('/v1/completions', { model: 'm', prompt: 'a', stream: true }),
    'Hugging Face’s inputs': post('/', { inputs: ['a', 'b'] }),
    'Text Generation Inference, a stream': post('/generate_stream', { inputs: 'a' }),
    'Text Generation Inference, a stream with details': post('/generate_stream', {
      ...{ inputs: 'a', parameters: { details: true } },
    }),
    'Vertex AI’s instances': post('/vertex', { instances: ['a', 'b'] }),
    'rows of the Open Inference Protocol': post('/v2/models/m/infer', {
      inputs: [{ name: 'text', shape: [2], datatype: 'BYTES', data: ['a', 'b'] }],
    }),
  }),
  ...of('sentence-similarity', [1, 0], {
    embeddings: post('/v1/embeddings', { model: 'm', input: Array(20).fill('text') }),
    embed: post('/embed', { inputs: Array(20).fill('text') }),
    rerank: post('/rerank', { query: 'a', texts: Array(20).fill('text') }),
    'Infinity’s rerank': post('/infinity/rerank', { query: 'a', documents: Array(20).fill('text') }),
    'Infinity’s embeddings': post('/infinity/embeddings', { input: Array(20).fill('text') }),
  }),
  ...of('text-classification', [{ label: 'toxic', score: 0.5 }], {
    moderations: post('/v1/moderations', { input: Array(3).fill('text'), flags: { toxic: 0.5 } }),
    'moderations, flags that the model has not': post('/v1/moderations', { input: 'a', flags: { other: 1 } }),
    predict: post('/predict', { inputs: [['a'], ['b'], ['c']] }),
    'Infinity’s classes': post('/infinity/classify', { input: ['a', 'b', 'c'] }),
  }),
  ...of('feature-extraction', [[1, 0]], {
    'vectors of all tokens': post('/embed_all', { inputs: Array(3).fill('text') }),
  }),
  ...of('fill-mask', [{ index: 3, value: 0.5 }], {
    'sparse vectors': post('/embed_sparse', { inputs: Array(3).fill('text') }),
  }),
  ...of(
    'fill-mask',
    { tokens: [[{ id: 1, text: 'a', special: false, start: 0, stop: 1 }]], max_length: 9 },
    {
      'tokens of texts': post('/tokenize', { inputs: ['text'] }),
      'tokens of a prompt': post('/tokenize', { prompt: 'text' }),
    },
  ),
  ...of(
    'fill-mask',
    { texts: ['word'] },
    {
      'the text of tokens': post('/detokenize', { tokens: Array(300).fill(1) }),
      'texts of tokens': post('/decode', { ids: [[1], [2]] }),
    },
  ),
  ...of(
    'text-to-speech',
    { mediaType: 'audio/wav', media: encodeWav(new Float32Array(3000), 8000) },
    {
      'a speech': post('/v1/audio/speech', { input: 'text', response_format: 'wav' }),
      'a speech as samples': post('/v1/audio/speech', { input: 'text', response_format: 'pcm' }),
      'a speech in another format': post('/v1/audio/speech', { input: 'text', response_format: 'opus' }),
    },
  ),
  ...of('automatic-speech-recognition', 'word', {
    'a transcription': form('/v1/audio/transcriptions', 'audio/wav', audio),
    'an audio clip as it is': post('/', audio, { 'content-type': 'audio/wav' }),
  }),
  ...of('image-classification', [{ label: 'a', score: 1 }], {
    'an image as it is': post('/', image, { 'content-type': 'image/png' }),
  }),
];

// A request has some hundred awaits, and is sent once for each of them.
jest.setTimeout(120_000);

test.each(CASES)('$name: left at every await', async ({ task, output, bytes }) => {
  const { server, gauges } = await watchedServer(task, { output });
  expect(await leaveAtEveryAwait(server, bytes, gauges)).toBeGreaterThan(0);
});

test.each(['chat', 'text-generation', 'sentence-similarity', 'text-classification'] as const)(
  'callers of all interfaces who leave anywhere: %s',
  async (task) => {
    const own = CASES.filter((one) => one.task === task);
    const { server, gauges } = await watchedServer(task, { concurrency: 1, output: own[0]!.output });
    await leaveAnywhere(
      server,
      own.map(({ bytes }) => bytes),
      { seed: 7, rounds: 60 },
    );
    await atRest(gauges, task);
  },
);
