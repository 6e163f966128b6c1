import { type AudioReader, requireSteps, stepsLeft } from '../../../../runtime/engines/audio/steps-left.js';

const WAVE = { conv_kernel: [10, 3, 3, 3, 3, 2, 2], conv_stride: [5, 2, 2, 2, 2, 2, 2] };
const FEWER = { add_adapter: true, adapter_kernel_size: 5, adapter_stride: 3, num_adapter_layers: 2 };

// As many steps as Python's networks give (transformers 4.57.6).
test.each<[string, AudioReader, Record<string, unknown>, number, number]>([
  ['wav2vec2', undefined, { ...WAVE }, 16_000, 49],
  ['its shortest', undefined, { ...WAVE }, 400, 1],
  ['adapters', undefined, { ...WAVE, add_adapter: true }, 16_000, 7],
  ['Wav2Vec2-BERT', 'wav2vec2-bert', {}, 50, 50],
  ['its adapters', 'wav2vec2-bert', { add_adapter: true }, 50, 25],
  ['its wide ones', 'wav2vec2-bert', { ...FEWER }, 50, 5],
  ['Moonshine Streaming', 'moonshine-streaming', {}, 16_000, 50],
  ['its odd frames', 'moonshine-streaming', {}, 480, 2],
  ['a network without steps', undefined, {}, 1, 1],
])('%s: as many steps as in Python', (_, reader, config, length, steps) => {
  expect(stepsLeft(config, reader, length)).toBe(steps);
});

test('fewer than a convolution spans leave none', () => {
  expect(stepsLeft(WAVE, undefined, 399)).toBeLessThan(1);
  expect(stepsLeft(FEWER, 'wav2vec2-bert', 1)).toBeLessThan(1);
});

test('an audio clip with more steps than Moonshine Streaming has positions is refused, and one without a frame', () => {
  const require = (samples: number) => () =>
    requireSteps({ max_position_embeddings: 3 }, 'moonshine-streaming', samples);
  expect(require(3 * 320)).not.toThrow();
  expect(require(3 * 320 + 1)).toThrow('positions for 960');
  expect(require(79)).toThrow('shorter');
});
