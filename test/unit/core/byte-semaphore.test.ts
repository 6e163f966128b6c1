import { createByteSemaphore } from '../../../runtime/core/byte-semaphore.js';

const settled = async (promise: Promise<unknown>) => {
  let done = false;
  void promise.then(() => (done = true));
  await new Promise(setImmediate);
  return done;
};

test('who finds too few bytes waits, and nobody overtakes', async () => {
  const line = createByteSemaphore(100);
  const leave = await line.acquire(70);
  const [large, small] = [line.acquire(60), line.acquire(10)];
  expect(await settled(large)).toBe(false);
  expect(await settled(small)).toBe(false);
  leave();
  (await large)();
  (await small)();
  expect(line.taken).toBe(0);
});

test('more than there is goes alone', async () => {
  const line = createByteSemaphore(100);
  const leave = await line.acquire(200);
  const next = line.acquire(1);
  expect(await settled(next)).toBe(false);
  leave();
  (await next)();
  expect(line.taken).toBe(0);
});

test('who leaves the line lets the others through, and holds nothing', async () => {
  const line = createByteSemaphore(100);
  const leave = await line.acquire(50);
  const controller = new AbortController();
  const large = line.acquire(100, controller.signal);
  const small = line.acquire(50);
  controller.abort(new Error('left'));
  await expect(large).rejects.toThrow('left');
  (await small)();
  leave();
  expect(line.taken).toBe(0);
  await expect(line.acquire(1, controller.signal)).rejects.toThrow('left');
});

test('bytes come back in parts, and never more than were taken', async () => {
  const line = createByteSemaphore(100);
  const leave = await line.acquire(80);
  const next = line.acquire(60);
  expect(line.waiting).toBe(1);
  leave(50);
  (await next)();
  leave(50);
  leave();
  expect([line.taken, line.waiting]).toEqual([0, 0]);
});
