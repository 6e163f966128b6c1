import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { openAudioEncoder } from '../../../../../../runtime/engines/generation/decoding/encoder-decoder/audio-encoder.js';
import type { AudioFeatures } from '../../../../../../runtime/engines/processors/audio/audio-features.js';
import { graphRuns } from '../../../../../../runtime/engines/sessions/graph-runs.js';
import { fixtureSpec } from '../../../../../parity/load.js';

const dir = join(
  import.meta.dirname,
  '../../../../../fixtures/zoo-own/automatic-speech-recognition/whisper-languages/repo',
);
const config = JSON.parse(await readFile(join(dir, 'config.json'), 'utf8')) as Record<string, unknown>;
const spec = fixtureSpec('automatic-speech-recognition', 'test/whisper', dir);
const { signal } = new AbortController();

afterEach(() => jest.restoreAllMocks());

/** No run takes time by this clock, so that as many rows as there may be share a run. */
const open = (own: Record<string, unknown> = {}) => {
  jest.spyOn(performance, 'now').mockReturnValue(0);
  const limits = { workers: 0, copyWeights: false, cacheBytes: 1, maxPixels: 1, maxSeconds: 1 };
  return openAudioEncoder({ spec, dir, device: 'cpu', threads: 1, ...limits }, { ...config, ...own });
};

/** Three seconds: 40 filters of 300 frames. */
const window = (seed: number): AudioFeatures => ({
  input: 'input_features',
  values: Float32Array.from({ length: 40 * 300 }, (_, i) => Math.sin(i / seed)),
  dims: [1, 40, 300],
  mask: { length: 300, content: 300 },
});

test('windows that wait together share a run, and get the states that they get alone', async () => {
  const encoder = await open();
  const alone = [];
  for (const seed of [3, 5, 9]) alone.push(await encoder.encode(window(seed), signal));
  const before = graphRuns();
  const first = encoder.encode(window(3), signal);
  const together = await Promise.all([first, ...[5, 9].map((seed) => encoder.encode(window(seed), signal))]);
  expect(graphRuns() - before).toBe(1);
  for (const [i, { data, dims }] of together.entries()) {
    expect(dims).toEqual([1, 150, 32]);
    const expected = alone[i]!.data as Float32Array;
    const largest = (data as Float32Array).reduce(
      (most, value, at) => Math.max(most, Math.abs(value - expected[at]!)),
      0,
    );
    expect(largest).toBeLessThan(1e-5);
  }
});

test('a window is encoded once, and one whose caller has left not at all', async () => {
  const encoder = await open();
  const source = window(4);
  const before = graphRuns();
  expect(await encoder.encode(source, signal)).toBe(await encoder.encode(source, signal));
  expect(graphRuns() - before).toBe(1);
  const left = encoder.encode(window(6), AbortSignal.abort(new Error('left')));
  await expect(left).rejects.toThrow('left');
  expect(graphRuns() - before).toBe(1);
});

test('models that take audio of any length are run as they come', async () => {
  const encoder = await open({ max_source_positions: undefined });
  const before = graphRuns();
  await Promise.all([3, 5].map((seed) => encoder.encode(window(seed), signal)));
  expect(graphRuns() - before).toBe(2);
});
