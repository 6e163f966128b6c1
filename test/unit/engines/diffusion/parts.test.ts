import { halfBitsToNumber, numberToHalfBits } from '../../../../runtime/core/half.js';
import type { Progress } from '../../../../runtime/core/progress.js';
import { denoise } from '../../../../runtime/engines/diffusion/denoise.js';
import { framesFirst, withFramesFirst } from '../../../../runtime/engines/diffusion/frames.js';
import { guided, guidanceEmbedding } from '../../../../runtime/engines/diffusion/guidance.js';
import { startingNoise } from '../../../../runtime/engines/diffusion/latents.js';
import { decoderBytes, unetBytes, usualNoiseBytes } from '../../../../runtime/core/diffusion-run-memory.js';
import { createScheduler } from '../../../../runtime/engines/diffusion/schedulers/index.js';
import { askedSize, sampleSize } from '../../../../runtime/engines/diffusion/size.js';
import { parsePythonJson } from '../../../../runtime/core/python-json.js';

describe('noise', () => {
  test('of a seed is the same, without one another each time', () => {
    const [a, b] = [startingNoise({ seed: 5 }, [1, 20]), startingNoise({ seed: 5 }, [1, 20])];
    expect(a.noise).toEqual(b.noise);
    expect(a.draw(3)).toEqual(b.draw(3));
    expect(startingNoise({}, [4]).noise).not.toEqual(startingNoise({}, [4]).noise);
  });

  test('that is given counts, if it has the shape', () => {
    expect([...startingNoise({ latents: [[1, 2, 3]] }, [1, 3]).noise]).toEqual([1, 2, 3]);
    for (const latents of [[1, 2, 3], [[1, 2]], [[1, 2, 'x']], [[1, 2, [3]]], [[[1], [2], [3]]], 'x'])
      expect(() => startingNoise({ latents }, [1, 3])).toThrow('params.latents: must be nested lists');
  });
});

describe('sizes', () => {
  const usual = { height: 64, width: 96 };
  const limits = { factor: 8, maxPixels: 100_000 };

  test('are the usual ones, or those asked for', () => {
    expect(askedSize({}, usual, limits)).toEqual(usual);
    expect(askedSize({ width: 32 }, usual, limits)).toEqual({ height: 64, width: 32 });
    expect(askedSize({ width: 32 }, usual, { ...limits, onlyBoth: true })).toEqual(usual);
  });

  test('are multiples of eight and no more than the limit', () => {
    expect(() => askedSize({ height: 60 }, usual, limits)).toThrow('params.height: must be a multiple of 8');
    expect(() => askedSize({ height: 2048 }, usual, limits)).toThrow(/2048 pixels .*MAX_PIXELS/);
  });

  test('of samples may be two', () => {
    expect(sampleSize({ sample_size: [4, 6] })).toEqual({ height: 4, width: 6 });
    expect(sampleSize({ sample_size: 8 })).toEqual({ height: 8, width: 8 });
    expect(sampleSize({ sample_size: 'large' })).toBeUndefined();
  });
});

test('guidance leads away from the negative prompt', () => {
  expect([...guided(Float32Array.of(1, 2, 3, 6), { scale: 2, rescale: 0 })]).toEqual([5, 10]);
  // The spread of the prompt's own output, 3 / sqrt(2), in place of 5 / sqrt(2).
  const [a, b] = guided(Float32Array.of(1, 2, 3, 6), { scale: 2, rescale: 1 });
  expect(b! - a!).toBeCloseTo(3, 5);
});

test('guidance as a number begins with its sines', () => {
  const embedding = guidanceEmbedding(7.5, 5);
  expect(embedding[0]).toBeCloseTo(Math.sin(6500), 3);
  expect(embedding[2]).toBeCloseTo(Math.cos(6500), 3);
  expect(embedding[4]).toBe(0);
});

test('frames and channels change places', () => {
  const values = Float32Array.of(1, 2, 3, 4, 5, 6);
  expect([...framesFirst(values, 2, 3)]).toEqual([1, 4, 2, 5, 3, 6]);
  const schedule = createScheduler({ _class_name: 'DDIMScheduler', clip_sample: false })({ steps: 2 });
  const output = values.map((value) => -value);
  const draw = () => new Float32Array(6);
  // What is done to each number alone does not depend on their order.
  expect(withFramesFirst(schedule, 2, 3).step(output, 0, values, draw)).toEqual(
    schedule.step(output, 0, values, draw),
  );
});

test('a caller who leaves ends the loop between two steps', async () => {
  const caller = new AbortController();
  const schedule = createScheduler({ _class_name: 'DDIMScheduler' })({ steps: 10 });
  let runs = 0;
  const predict = async (sample: Float32Array) => {
    runs++;
    if (runs === 3) caller.abort(new Error('left'));
    return sample;
  };
  const start = startingNoise({ seed: 1 }, [1, 4]);
  const work = { signal: caller.signal, tell: () => {} };
  await expect(denoise({ schedule, start, predict, work })).rejects.toThrow('left');
  expect(runs).toBe(3);
});

test('each run of the network is told, and that there are some to come', async () => {
  const schedule = createScheduler({ _class_name: 'HeunDiscreteScheduler' })({ steps: 3 });
  const told: Progress[] = [];
  const work = { signal: new AbortController().signal, tell: (progress: Progress) => told.push(progress) };
  const start = startingNoise({ seed: 1 }, [1, 4]);
  await denoise({ schedule, start, predict: async (sample) => sample, work });
  // Two runs a step, and one for the last.
  expect(told).toEqual(Array.from({ length: 6 }, (_, step) => ({ step, steps: 5 })));
});

test('memory grows with the size, with attention by its square', () => {
  const config = {
    block_out_channels: [320, 640],
    down_block_types: ['CrossAttnDownBlock2D', 'DownBlock2D'],
    attention_head_dim: 8,
    cross_attention_dim: 768,
  };
  const guided = { rows: 2, own: false };
  const small = unetBytes(config, { height: 32, width: 32 }, guided);
  expect(unetBytes(config, { height: 64, width: 64 }, guided)).toBeGreaterThan(8 * small);
  // Stable Diffusion at 512 x 512 pixels: 8 heads over 4096 cells, twice, for two prompts.
  expect(unetBytes(config, { height: 64, width: 64 }, guided)).toBeGreaterThan(2 * 8 * 4096 ** 2 * 4 * 2);
  expect(decoderBytes({ block_out_channels: [128, 256] }, { height: 512, width: 512 })).toBeGreaterThan(4e8);
});

test('an image of the usual size takes what was measured: both networks, without scores over graphs of ours', () => {
  const unet = {
    ...{
      block_out_channels: [160, 320, 640, 640],
      attention_head_dim: 8,
      cross_attention_dim: 768,
      sample_size: 64,
    },
    down_block_types: ['CrossAttnDownBlock2D', 'CrossAttnDownBlock2D', 'CrossAttnDownBlock2D', 'DownBlock2D'],
  };
  const vae = { block_out_channels: [128, 256, 512, 512] };
  const own = usualNoiseBytes(unet, vae, { rows: 1, own: true });
  // docs/measurements.md: 1164 MB above the loaded model.
  expect(own / 1164e6).toBeGreaterThan(1);
  expect(own / 1164e6).toBeLessThan(1.15);
  const exported = usualNoiseBytes(unet, vae, { rows: 1, own: false });
  expect(exported - own).toBe(2 * 4 * 2 * 8 * 4096 ** 2);
  expect(usualNoiseBytes(unet, {}, { rows: 1, own: true })).toBeLessThan(0.05 * own);
  expect(usualNoiseBytes({}, {}, { rows: 1, own: false })).toBe(0);
});

test('numbers become half precision and back', () => {
  for (const value of [0, 1, -1, 0.5, 65504, 2 ** -14, 2 ** -24, 1.0009765625, Infinity, -Infinity])
    expect(halfBitsToNumber(numberToHalfBits(value))).toBe(value);
  expect(halfBitsToNumber(numberToHalfBits(1 + 2 ** -11))).toBe(1);
  expect(halfBitsToNumber(numberToHalfBits(70_000))).toBe(Infinity);
  expect(halfBitsToNumber(numberToHalfBits(2047.9))).toBe(2048);
  expect(halfBitsToNumber(numberToHalfBits(NaN))).toBeNaN();
});

test('Python’s JSON has numbers that JSON has not', () => {
  const text = '{"a": -Infinity, "b": [Infinity, NaN], "c": "NaN \\" Infinity", "Infinity": 1}';
  expect(parsePythonJson(text)).toEqual({
    ...{ a: -Infinity, b: [Infinity, null], c: 'NaN " Infinity', Infinity: 1 },
  });
  expect(() => parsePythonJson('{')).toThrow(SyntaxError);
});
