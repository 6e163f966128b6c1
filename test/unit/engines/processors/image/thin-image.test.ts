import { resizeLikePillow } from '../../../../../runtime/engines/processors/image/pillow-resize.js';

test('an image that grows without end where its short edge is brought to a size is refused', () => {
  const thin = { data: new Uint8Array(3 * 2_000_000), width: 1, height: 2_000_000, channels: 3 };
  expect(() => resizeLikePillow(thin, 224, 224 * 2_000_000, 2)).toThrow(
    /too long and thin: .* 224 x 448000000 pixels/,
  );
});
