import ort from 'onnxruntime-node';
import type { Tensor } from 'onnxruntime-node';
import { speakFrames } from '../../../../runtime/engines/speech/speecht5/speak-frames.js';

const states = new ort.Tensor('float32', new Float32Array(2), [1, 1, 2]) as Tensor;
const mask = new ort.Tensor('int64', BigInt64Array.of(1n), [1, 1]) as Tensor;

/** Two frames of one band with each step, which count on; an end gets likelier with each step. */
function speak(limits: { threshold: number; least: number; most: number }, longest = 50) {
  let count = 0;
  return speakFrames(
    async ({ output_sequence }) => {
      const said = output_sequence!.data as Float32Array;
      const frames = Float32Array.of(count, count + 0.5);
      count++;
      return {
        output_sequence_out: new ort.Tensor('float32', Float32Array.of(...said, frames[1]!), [
          1,
          said.length + 1,
          1,
        ]),
        spectrum: new ort.Tensor('float32', frames, [2, 1]),
        prob: new ort.Tensor('float32', Float32Array.of(count / 20, count / 20), [2]),
      };
    },
    { states, mask, voice: [1], bands: 1, limits, longest, signal: new AbortController().signal },
  );
}

test.each([
  ['probabilities of a step add up', { threshold: 0.5, least: 0, most: 40 }, 5],
  ['not before the least length', { threshold: 0.5, least: 9, most: 40 }, 9],
  ['at the most length', { threshold: 2, least: 0, most: 7 }, 7],
  ['a first step at least', { threshold: 2, least: 0, most: 0 }, 1],
])('ends: %s', async (_, limits, steps) => {
  const frames = await speak(limits);
  expect(Array.from(frames)).toEqual(Array.from({ length: steps * 2 }, (__, i) => i / 2));
});

test('a speech without an end is refused at the last position', async () => {
  await expect(speak({ threshold: 9, least: 0, most: 100 }, 6)).rejects.toThrow('no end within the 6 steps');
});
