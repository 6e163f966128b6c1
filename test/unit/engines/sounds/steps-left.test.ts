import { stepsLeft } from '../../../../runtime/engines/sounds/steps-left.js';

const WAVE = { conv_kernel: [10, 3, 3, 3, 3, 2, 2], conv_stride: [5, 2, 2, 2, 2, 2, 2] };
const FEWER = { add_adapter: true, adapter_kernel_size: 5, adapter_stride: 3, num_adapter_layers: 2 };

// As many steps as Python's networks give (transformers 4.57.6).
test.each([
  ['wav2vec2', { model_type: 'wav2vec2', ...WAVE }, 16_000, 49],
  ['its shortest', { model_type: 'wav2vec2', ...WAVE }, 400, 1],
  ['adapters', { model_type: 'wav2vec2', ...WAVE, add_adapter: true }, 16_000, 7],
  ['Wav2Vec2-BERT', { model_type: 'wav2vec2-bert' }, 50, 50],
  ['its adapters', { model_type: 'wav2vec2-bert', add_adapter: true }, 50, 25],
  ['its wide ones', { model_type: 'wav2vec2-bert', ...FEWER }, 50, 5],
  ['a network without steps', { model_type: 'audio-spectrogram-transformer' }, 1, 1],
])('%s: as many steps as in Python', (_, config, length, steps) => {
  expect(stepsLeft(config, length)).toBe(steps);
});

test('fewer than a convolution spans leave none', () => {
  expect(stepsLeft({ model_type: 'wav2vec2', ...WAVE }, 399)).toBeLessThan(1);
  expect(stepsLeft({ model_type: 'wav2vec2-bert', ...FEWER }, 1)).toBeLessThan(1);
});
