import { createBarredProcessor } from '../../../../../runtime/engines/processors/image/deepseek-vl.js';

const size = { height: 16, width: 16 };
const plain = { do_rescale: false, do_normalize: false };
const white = (height: number, width: number) => ({
  ...{ height, width, channels: 3 as const },
  data: new Uint8Array(height * width * 3).fill(255),
});

// pad_to_square of image_processing_deepseek_vl.py
test('bars have the colour of the means, and the image stands in the middle', () => {
  const { process } = createBarredProcessor({ size, min_size: 4, image_mean: [0.5, 0.25, 0.1], ...plain });
  const values = process(white(40, 20));
  const line = (channel: number) => [...values.subarray(channel * 256, channel * 256 + 16)];
  const bars = [127, 63, 25];
  for (const [channel, bar] of bars.entries())
    expect(line(channel)).toEqual(Array.from({ length: 16 }, (_, x) => (x < 4 || x >= 12 ? bar : 255)));
});

test('bars are grey where no means are named', () => {
  const { process } = createBarredProcessor({ size, min_size: 4, ...plain });
  expect([...process(white(20, 40)).subarray(0, 16)]).toEqual(Array.from({ length: 16 }, () => 127));
});

test.each([
  [{ size: { height: 16, width: 20 } }, 'square'],
  [{ size, min_size: 20 }, 'min_size'],
  [{ size, do_pad: false }, 'padded'],
])('settings of %j are refused by name', (settings, name) => {
  expect(() => createBarredProcessor(settings)).toThrow(name);
});
