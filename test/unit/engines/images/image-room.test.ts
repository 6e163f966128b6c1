import { requireImageRoom } from '../../../../runtime/engines/images/image-room.js';

const bytesOf = ({ height, width }: { height: number; width: number }) => height * width;

test('an image whose run takes more than there is room for is refused with a size that does', () => {
  const image = { height: 3000, width: 4000 };
  requireImageRoom(image, bytesOf, 12e6);
  expect(() => requireImageRoom(image, bytesOf, 3e6)).toThrow(
    expect.objectContaining({
      code: 'payload_too_large',
      message:
        'the model reads this image as 4000 x 3000 pixels, and there is memory for one of 2000 x 1500: send a smaller image, or give the server more memory',
    }),
  );
  expect(() => requireImageRoom(image, bytesOf, 10)).toThrow(/a much smaller one/);
});
