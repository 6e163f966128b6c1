import { processingProblem } from '../../../runtime/hub-config/processing.js';

test('settings as classes write them are taken, null for what they leave out, too', () => {
  const settings = {
    size: { height: 224, width: 224 },
    crop_size: null,
    image_mean: [0.5, 0.5, 0.5],
    do_pad: null,
  };
  expect(processingProblem({ ...settings, resample: 3, size_divisor: null, unknown: ['x'] })).toBeUndefined();
  expect(processingProblem({ sampling_rate: 16_000, hop_length: 160, dither: 0.0 })).toBeUndefined();
  const noisy = { feature_extractor_type: 'CohereAsrFeatureExtractor', dither: 1e-5 };
  expect(processingProblem(noisy)).toBeUndefined();
});

test.each([
  [{ image_std: [0.5, 0, 0.5] }, /^image_std.1: is too near to 0/],
  [{ image_mean: 'x' }, /^image_mean: /],
  [{ image_mean: 1e308 }, /^image_mean: /],
  [{ resample: 7 }, /^resample: /],
  [{ size: { height: 1.5, width: 3 } }, /^size: .*edges from 1/],
  [{ crop_size: { height: 30_000, width: 30_000 } }, /^crop_size: .*pixels/],
  [{ size: 5000 }, /^size: /],
  [{ do_resize: { height: 3 } }, /^do_resize: /],
  [{ hop_length: -1 }, /^hop_length: /],
  [{ sampling_rate: null }, /^sampling_rate: /],
  [{ logmel_floor_db: {} }, /^logmel_floor_db: /],
  [{ n_fft: 1.5 }, /^n_fft: /],
  [{ dither: 1e-5 }, /^dither: adds noise/],
  [{ dither: 1e-5, feature_extractor_type: 'ParakeetFeatureExtractor' }, /^dither: adds noise/],
  [{ is_vqa: true }, /^is_vqa: questions are read off the image/],
  [[], /./],
])('%j is refused by the name of the field', (settings, problem) => {
  expect(processingProblem(settings)).toMatch(problem);
});
