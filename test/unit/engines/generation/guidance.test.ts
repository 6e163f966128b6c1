import type { Decoding } from '../../../../runtime/engines/generation/decoding/decoder.js';
import { startGuidedDecoding } from '../../../../runtime/engines/generation/guidance.js';
import { settingsOf } from './support.js';

/** Says what is fed to it, and gives these scores. */
function recorder(log: unknown[], name: string, scores: number[]): Decoding {
  return {
    async prefill({ tokens }) {
      log.push([name, 'prompt', tokens]);
      return Float32Array.from(scores);
    },
    async step(tokens) {
      log.push([name, tokens]);
      return tokens.map(() => Float32Array.from(scores));
    },
    reorder: (from) => log.push([name, 'reorder', from]),
    end: () => log.push([name, 'end']),
  };
}

test('the other text begins with the last token of the prompt, and goes on with the rows', async () => {
  const log: unknown[] = [];
  const decodings = [recorder(log, 'text', [0, 0]), recorder(log, 'free', [Math.log(3), 0])];
  const guided = await startGuidedDecoding(2, async () => decodings.shift()!);
  const scores = await guided.prefill({ tokens: [5, 6, 7] });
  guided.reorder([0, 0]);
  const [stepped] = await guided.step([1, 0]);
  guided.end();
  // 2 (log 1/2 - log p) + log p, for p = 3/4 and 1/4
  for (const found of [scores, stepped!]) {
    expect(found[0]).toBeCloseTo(2 * Math.log(0.5) - Math.log(0.75), 6);
    expect(found[1]).toBeCloseTo(2 * Math.log(0.5) - Math.log(0.25), 6);
  }
  expect(log).toEqual([
    ...[
      ['text', 'prompt', [5, 6, 7]],
      ['free', 'prompt', [7]],
    ],
    ...[
      ['text', 'reorder', [0, 0]],
      ['free', 'reorder', [0, 0]],
    ],
    ...[
      ['text', [1, 0]],
      ['free', [1, 0]],
      ['text', 'end'],
      ['free', 'end'],
    ],
  ]);
});

test('where there is no room for the other text, the first one ends', async () => {
  const log: unknown[] = [];
  let starts = 0;
  const start = async () => {
    if (starts++ > 0) throw new Error('full');
    return recorder(log, 'text', [0]);
  };
  await expect(startGuidedDecoding(2, start)).rejects.toThrow('full');
  expect(log).toEqual([['text', 'end']]);
});

test('guidance goes neither with beams nor with probabilities', () => {
  expect(() => settingsOf({ guidance_scale: 2, num_beams: 2 })).toThrow(/guidance_scale/);
  expect(() => settingsOf({ guidance_scale: 2, logprobs: 0 })).toThrow(/guidance_scale/);
  expect(settingsOf({}, { repository: { guidance_scale: 1.5 } }).guidanceScale).toBe(1.5);
});
