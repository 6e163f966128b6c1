import { join } from 'node:path';
import { jest } from '@jest/globals';
import type { ImageMaker, ImageOptions } from '../../../../runtime/core/handles/index.js';
import { loadTextToImage } from '../../../../runtime/engines/diffusion/pipelines/text-to-image.js';
import { openUnet } from '../../../../runtime/engines/diffusion/pipelines/unet.js';
import { shareSteps, type StepInputs } from '../../../../runtime/engines/diffusion/shared-runs.js';
import { graphRuns } from '../../../../runtime/engines/sessions/graph-runs.js';
import type { Tensors } from '../../../../runtime/engines/sessions/tensors.js';
import { fixtureSpec } from '../../../parity/load.js';

afterEach(() => jest.restoreAllMocks());

const { signal } = new AbortController();

/** A step of so many rows: numbers of one level, and conditions that are longer. */
const step = (level: number, { rows = 1, time = 10, width = 4 } = {}): StepInputs => ({
  sample: { type: 'float32', data: new Float32Array(rows * width).fill(level), dims: [rows, 1, 1, width] },
  timestep: { type: 'float32', data: Float32Array.of(time), dims: [1] },
  states: { type: 'float32', data: new Float32Array(rows * 100).fill(level), dims: [rows, 100] },
});

interface Run {
  rows: number;
  times: number[];
}

/**
 * Steps over a graph that gives each row's level, more by its timestep.
 * @param perRow whether it takes a timestep for each row; otherwise it takes the first for all
 */
async function stepsOf({
  perRow = false,
  takesTimesteps = perRow,
  mixes = false,
}: { perRow?: boolean; takesTimesteps?: boolean; mixes?: boolean } = {}) {
  jest.spyOn(performance, 'now').mockReturnValue(0);
  const runs: Run[] = [];
  let open = true;
  let release: () => void = () => {};
  const run = async ({ sample, timestep, states }: Tensors): Promise<Tensors> => {
    const [rows, , , width] = sample!.dims as [number, number, number, number];
    expect(states!.dims[0]).toBe(rows);
    const times = Array.from(timestep!.data as Float32Array);
    if (!perRow && times.length > 1) throw new Error('one timestep');
    runs.push({ rows, times });
    if (!open) await new Promise<void>((resolve) => (release = resolve));
    const data = (sample!.data as Float32Array).map(
      (value, i) => value + (times[Math.floor(i / width)] ?? times[0]!) + (mixes ? rows : 0),
    );
    return { out: { type: 'float32', data, dims: sample!.dims } };
  };
  const forward = await shareSteps({
    sessions: [{ run, runWide: undefined }],
    sample: () => step(1),
    usual: undefined,
    takesTimesteps,
    mayDouble: () => true,
  });
  runs.length = 0;
  return {
    runs,
    forward: async (inputs: StepInputs) => [
      ...((await forward(inputs, signal))['out']!.data as Float32Array),
    ],
    /** Later runs wait until they are let go. */
    hold: () => (open = false),
    letGo() {
      open = true;
      release();
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('steps of one size and one timestep share a run, guided ones, too; others have their own', async () => {
  const { forward, runs, hold, letGo } = await stepsOf();
  hold();
  const first = forward(step(1));
  await turn();
  const others = [step(2), step(3, { rows: 2 }), step(4, { time: 20 }), step(5, { width: 8 })].map(forward);
  letGo();
  expect(await first).toEqual([11, 11, 11, 11]);
  const found = await Promise.all(others);
  expect(found.map((values) => [values.length, values[0]])).toEqual([
    [4, 12],
    [8, 13],
    [4, 24],
    [8, 15],
  ]);
  expect(runs).toEqual([
    { rows: 1, times: [10] },
    { rows: 3, times: [10] },
    { rows: 1, times: [20] },
    { rows: 1, times: [10] },
  ]);
});

test('different timesteps share a run of a graph that takes one for each row', async () => {
  const { forward, runs, hold, letGo } = await stepsOf({ perRow: true });
  hold();
  const first = forward(step(1));
  await turn();
  const others = [step(2), step(3, { rows: 2, time: 30 })].map(forward);
  letGo();
  await first;
  expect((await Promise.all(others)).map((values) => values.at(-1))).toEqual([12, 33]);
  expect(runs[1]).toEqual({ rows: 3, times: [10, 30, 30] });
});

test('a graph that only looks as if it took them gets one', async () => {
  const { forward, runs } = await stepsOf({ perRow: false, takesTimesteps: true });
  await Promise.all([forward(step(2)), forward(step(3, { time: 30 }))]);
  expect(runs.map(({ times }) => times)).toEqual([[10], [30]]);
});

test('nothing is shared where it would change answers', async () => {
  const { forward, runs } = await stepsOf({ mixes: true });
  await Promise.all([forward(step(2)), forward(step(3))]);
  expect(runs.map(({ rows }) => rows)).toEqual([1, 1]);
});

describe('a real network', () => {
  const dir = join(import.meta.dirname, '../../../fixtures/zoo/text-to-image/sd-ddim/repo');
  const limits = { workers: 0, copyWeights: false, cacheBytes: 1, maxPixels: 2 ** 20, maxSeconds: 1 };
  const request = {
    ...{ spec: fixtureSpec('text-to-image', 'test/sd', dir), dir, device: 'cpu' as const, threads: 1 },
    ...limits,
  };

  test('gives each of several samples what it gives it alone', async () => {
    jest.spyOn(performance, 'now').mockReturnValue(0);
    const unet = await openUnet(request);
    const predictions = [1, 2, 3].map((seed) => ({
      sample: Float32Array.from({ length: 4 * 64 }, (_, i) => Math.sin(i * seed)),
      dims: [1, 4, 8, 8],
      timestep: 500,
      conditions: {
        encoder_hidden_states: {
          values: Float32Array.from({ length: 2 * 77 * 32 }, (_, i) => Math.cos(i * seed)),
          dims: [2, 77, 32],
        },
      },
      guidance: { scale: 7.5, rescale: 0 },
      signal,
    }));
    const alone: Float32Array[] = [];
    for (const one of predictions) alone.push(await unet.predict(one));
    const before = graphRuns();
    const together = await Promise.all(predictions.map((one) => unet.predict(one)));
    expect(graphRuns() - before).toBe(1);
    for (const [i, values] of together.entries()) {
      const largest = values.reduce((most, value, at) => Math.max(most, Math.abs(value - alone[i]![at]!)), 0);
      expect(largest).toBeLessThan(1e-5);
    }
  });

  test('makes of requests that come together the images that they are alone, in fewer runs', async () => {
    jest.spyOn(performance, 'now').mockReturnValue(0);
    const maker: ImageMaker = await loadTextToImage(request);
    const make = (seed: number, more: ImageOptions = {}) =>
      maker.make('a hill', { seed, num_inference_steps: 4, ...more }, { signal, tell: () => {} });
    const alone = [await make(1), await make(2), await make(3, { guidance_scale: 1 })];
    const before = graphRuns();
    const together = await Promise.all([make(1), make(2), make(3, { guidance_scale: 1 })]);
    // Two texts of two requests and one of the third, three decoders, and steps of which most are shared.
    expect(graphRuns() - before).toBeLessThan(5 + 3 + 3 * 4);
    expect(together.map(({ media }) => Buffer.from(media))).toEqual(
      alone.map(({ media }) => Buffer.from(media)),
    );
  });
});
