import { createImageProcessor } from '../../../../../runtime/engines/processors/image/image-processor.js';

const IMAGE = {
  ...{ width: 4, height: 5, channels: 3 as const },
  data: Uint8Array.from({ length: 60 }, (_, i) => (i * 7) % 256),
};
const SETTINGS = { image_processor_type: 'RfDetrImageProcessor', size: { height: 2, width: 3 } };

test('floats are resized without antialias, as torch interpolates them', () => {
  const { values, height, width } = createImageProcessor(SETTINGS).process(IMAGE);
  expect([height, width]).toEqual([2, 3]);
  // torch.nn.functional.interpolate(image / 255, (2, 3), mode="bilinear"), normalised
  const wanted: number[] = [
    -0.97911, -0.49961, -0.02012, 0.97311, -1.28735, -0.80786, -0.74895, -0.25875, 0.23144, -1.55427,
    -1.06408, -0.57388, -0.40139, 0.08662, 0.57464, -1.20314, -0.71512, -0.2271,
  ];
  expect(values).toHaveLength(wanted.length);
  wanted.forEach((value, i) => expect(values[i]).toBeCloseTo(value, 4));
});

test.each([
  [{ resample: 1 }, 'resample 1'],
  [{ do_rescale: false }, 'do_rescale false'],
  [{ pad_size: { height: 64, width: 64 } }, 'pad_size'],
])('%j is refused by name', (more, name) => {
  expect(() => createImageProcessor({ ...SETTINGS, ...more })).toThrow(name);
});
