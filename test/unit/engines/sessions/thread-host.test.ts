import { Worker } from 'node:worker_threads';
import { threadHost } from '../../../../runtime/engines/sessions/thread-host.js';
import type { Tensors } from '../../../../runtime/engines/sessions/tensors.js';

/** Answers each run with its feeds. */
const ECHO = `const { parentPort } = require('node:worker_threads');
parentPort.on('message', ({ id, args }) => parentPort.postMessage({ id, result: args[1] }));`;

const host = threadHost(() => new Worker(ECHO, { eval: true }));
afterAll(() => host.end());

const ones = (length: number) => ({
  type: 'float32',
  data: new Float32Array(length).fill(1),
  dims: [length],
});

test('feeds are handed over', async () => {
  const feeds: Tensors = { x: ones(4), none: ones(0) };
  const answer = await host.run(0, feeds);
  expect([...(answer['x']!.data as Float32Array)]).toEqual([1, 1, 1, 1]);
  expect(feeds['x']!.data).toHaveLength(0);
});

test('a run with feeds that were handed over before is an error, and does not keep others waiting', async () => {
  const feeds: Tensors = { x: ones(4) };
  await host.run(0, feeds);
  await expect(host.run(0, feeds)).rejects.toThrow('the memory of x was handed over to a session before');
  await expect(host.run(0, { x: ones(2) })).resolves.toBeDefined();
});

test('so is a run whose tensors share memory', async () => {
  const x = ones(4);
  await expect(host.run(0, { x, y: x })).rejects.toThrow(/ArrayBuffer/);
  await expect(host.run(0, { x: ones(2) })).resolves.toBeDefined();
});
