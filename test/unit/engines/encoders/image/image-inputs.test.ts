import { checkImageInputs, imageRow } from '../../../../../runtime/engines/encoders/image/image-inputs.js';
import type { ProcessedImage } from '../../../../../runtime/engines/processors/image/image-processor.js';

const port = (name: string, type = 'float32') => ({ name, type, shape: [] });

/** 2 x 1 pixels, padded to 3 x 2. */
const image: ProcessedImage = {
  values: Float32Array.from({ length: 18 }, (_, i) => i),
  ...{ height: 2, width: 3 },
  content: { height: 1, width: 2 },
  original: { height: 10, width: 20 },
};

test('an image is given as the graph names it', () => {
  expect(imageRow([port('pixel_values')], image)).toEqual({
    pixel_values: { type: 'float32', data: image.values, dims: [1, 3, 2, 3] },
  });
});

test.each([
  ['int64', BigInt64Array.from([1, 1, 0, 0, 0, 0], BigInt)],
  ['bool', Uint8Array.from([1, 1, 0, 0, 0, 0])],
  ['float32', Float32Array.from([1, 1, 0, 0, 0, 0])],
])('the mask says where the image is, as %s', (type, data) => {
  const { pixel_mask } = imageRow([port('pixel_values'), port('pixel_mask', type)], image);
  expect(pixel_mask).toEqual({ type, data, dims: [1, 2, 3] });
});

test('a graph that wants more than an image is refused by what it wants', () => {
  checkImageInputs([port('pixel_values'), port('pixel_mask', 'int64')]);
  expect(() => checkImageInputs([port('pixel_values'), port('input_ids', 'int64')])).toThrow(
    "the graph wants inputs that an image can't give: input_ids",
  );
  expect(() => checkImageInputs([port('pixel_mask', 'int64')])).toThrow('the graph takes no pixel_values');
});

test('the only input of a graph is the image, whatever its name', () => {
  const ports = [{ ...port('input_image'), shape: ['b', 3, 1024, 1024] }];
  checkImageInputs(ports);
  expect(imageRow(ports, image)).toEqual({
    input_image: { type: 'float32', data: image.values, dims: [1, 3, 2, 3] },
  });
  expect(() => checkImageInputs([{ ...port('input_ids', 'int64'), shape: ['b', 's'] }])).toThrow('input_ids');
});
