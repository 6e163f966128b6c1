import { gzipSync } from 'node:zlib';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { IMAGE } from '../../runtime/tasks/example.js';
import { atRest, bytesOf, leaveAnywhere, leaveAtEveryAwait, sendAheadAndLeave } from '../fakes/leaving.js';
import { closeWatched, watchedServer } from './watched-server.js';

/** Whoever leaves a model's own server, and whenever: nothing stays held for them, and nothing goes on. */

afterEach(closeWatched);

const HEADERS = { authorization: 'K', 'content-type': 'application/json' };
const post = (body: object | Buffer, headers = {}) =>
  bytesOf('POST', '/run', { ...HEADERS, ...headers }, Buffer.isBuffer(body) ? body : JSON.stringify(body));

const text = { text: 'x'.repeat(3000) };

const REQUESTS: [name: string, task: TaskId, Buffer][] = [
  ['a text', 'text-generation', post(text)],
  ['a stream', 'text-generation', post({ ...text, stream: true })],
  ['a stream of events', 'text-generation', post({ ...text, stream: true }, { accept: 'text/event-stream' })],
  ['gzip', 'text-generation', post(gzipSync(JSON.stringify(text)), { 'content-encoding': 'gzip' })],
  ['a body that is asked for', 'text-generation', post(text, { expect: '100-continue' })],
  ['a body of a third of a megabyte', 'text-generation', post({ text: 'x'.repeat(3e5) })],
  ['a refused body', 'text-generation', post({ text: 1 })],
  ['an image by address', 'image-classification', post({ url: 'http://media.example/x.png' })],
  ['an image in place', 'image-classification', post({ base64: IMAGE })],
  ['status', 'text-generation', bytesOf('GET', '/status', HEADERS)],
  ['metrics', 'text-generation', bytesOf('GET', '/metrics', HEADERS)],
];

test.each(REQUESTS)('%s: left at every await', async (_name, task, bytes) => {
  const { server, gauges } = await watchedServer(task);
  expect(await leaveAtEveryAwait(server, bytes, gauges)).toBeGreaterThan(0);
});

test('left at every await while the model loads', async () => {
  const { server, gauges } = await watchedServer('text-generation', { startTurns: 400 });
  expect(await leaveAtEveryAwait(server, REQUESTS[0]![2], gauges)).toBeGreaterThan(0);
});

test.each([1, 2, 3])('callers who leave anywhere, seed %i', async (seed) => {
  const task = seed === 3 ? 'image-classification' : 'text-generation';
  const { server, gauges } = await watchedServer(task, { concurrency: 1 });
  const requests = REQUESTS.filter((request) => request[1] === task).map(([, , bytes]) => bytes);
  await leaveAnywhere(server, requests, { seed, rounds: 60 });
  await atRest(gauges, `seed ${seed}`);
});

test('requests that were sent ahead hold nothing once their connection is gone', async () => {
  const { server, gauges } = await watchedServer('text-generation', { concurrency: 1 });
  const kept = REQUESTS.slice(0, 6).map(([, , bytes]) =>
    Buffer.from(bytes.toString('latin1').replace('connection: close\r\n', ''), 'latin1'),
  );
  await sendAheadAndLeave(server, kept);
  await atRest(gauges, 'ahead');
});
