import sharp from 'sharp';
import { createImageReader } from '../../../runtime/media/image-reader.js';
import type { MemoryLimits } from '../../../runtime/core/load-request.js';
import { availableMemory } from '../../../runtime/engines/sessions/available-memory.js';

const image = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: 'teal' } })
    .jpeg()
    .toBuffer();

const lineOf = (memory: MemoryLimits | undefined) =>
  createImageReader({ maxPixels: 1e8, threads: 2, availableBytes: () => availableMemory(memory) });
const sizeOf = ({ width, height }: { width: number; height: number }) => [width, height];

/** A limit that leaves the least that there is: 8 MiB, less than any image is reckoned at. */
const NOTHING = { limit: 1, bodies: 0 };

test('an image that would never fit is refused by what it would take, once the model has shown what a run keeps', async () => {
  const line = lineOf(NOTHING);
  expect(await line.read(await image(64, 48), sizeOf, undefined)).toEqual([64, 48]);
  line.hasRun();
  await expect(line.read(await image(4000, 3000), sizeOf, undefined)).rejects.toMatchObject({
    code: 'payload_too_large',
    message: expect.stringMatching(
      /^the image has 4000 x 3000 pixels: to decode it takes up to 60 MB, and of this server's memory 8 MB are left/,
    ),
  });
});

test('without a limit all are decoded', async () => {
  const line = lineOf(undefined);
  const all = await Promise.all(
    [100, 200, 300].map(async (width) => line.read(await image(width, 50), sizeOf, undefined)),
  );
  expect(all).toEqual([
    [100, 50],
    [200, 50],
    [300, 50],
  ]);
});

test('an image that is broken gives its bytes back', async () => {
  const line = lineOf({ limit: process.memoryUsage.rss() + 2 ** 25 + 600e6, bodies: 0 });
  line.hasRun();
  const whole = await image(4000, 3000);
  for (let i = 0; i < 12; i++)
    await expect(line.read(whole.subarray(0, whole.length / 2), sizeOf, undefined)).rejects.toMatchObject({
      code: 'unprocessable',
    });
  expect(await line.read(whole, sizeOf, AbortSignal.timeout(20_000))).toEqual([4000, 3000]);
});

test('images are decoded on so many threads; who leaves while waiting for one is not decoded', async () => {
  const line = createImageReader({ maxPixels: 1e8, threads: 1, availableBytes: () => Infinity });
  const bytes = await image(1000, 800);
  const callers = [new AbortController(), new AbortController()];
  // Whichever is decoded first sends the other one away.
  const both = callers.map(({ signal }, i) =>
    line.read(bytes, () => callers[1 - i]!.abort(new Error('left')), signal),
  );
  const outcomes = (await Promise.allSettled(both)).map(({ status }) => status);
  expect(outcomes.toSorted()).toEqual(['fulfilled', 'rejected']);
  await line.read(bytes, sizeOf, undefined);
});
