import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { releaseOnClose, writeChunk } from '../../../runtime/wire/lifetime.js';

/** A response that is closed when the test says so, and writes when it says so. */
function response() {
  const emitter = Object.assign(new EventEmitter(), { closed: false, done: [] as (() => void)[] });
  const close = () => {
    emitter.closed = true;
    emitter.emit('close');
  };
  const write = (_text: string, done: () => void) => emitter.done.push(done);
  return { close, emitter, response: Object.assign(emitter, { write }) as unknown as ServerResponse };
}

test('what is held for a response is released once: on its end, or at once after it', () => {
  const { response: given, close } = response();
  const released: string[] = [];
  releaseOnClose(given, () => released.push('before'));
  expect(released).toEqual([]);
  close();
  expect(released).toEqual(['before']);
  releaseOnClose(given, () => released.push('after'));
  expect(released).toEqual(['before', 'after']);
  close();
  expect(released).toEqual(['before', 'after']);
});

test('a write settles when it is out, and fails when its connection closes before or has done so', async () => {
  const { response: given, close, emitter } = response();
  const out = writeChunk(given, 'a');
  emitter.done[0]!();
  await out;
  expect(emitter.listenerCount('close')).toBe(0);
  const waiting = writeChunk(given, 'b');
  close();
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
  await expect(writeChunk(given, 'c')).rejects.toMatchObject({ code: 'cancelled' });
});
