import { crc32 } from 'node:zlib';
import sharp from 'sharp';
import { decodeBase64 } from '../../../runtime/media/base64.js';
import { decodeImage } from '../../../runtime/media/decode-image.js';
import { createImageProcessor } from '../../../runtime/engines/processors/image/image-processor.js';
import { sniff } from '../../../runtime/media/sniff.js';

const noise = (width: number, height: number) =>
  sharp({
    create: {
      width,
      height,
      channels: 3,
      background: '#808080',
      noise: { type: 'gaussian', mean: 128, sigma: 50 },
    },
  });

describe('decoding images', () => {
  test.each(['jpeg', 'png', 'webp', 'avif', 'tiff', 'gif'] as const)(
    '%s gives three channels',
    async (format) => {
      const bytes = await noise(40, 30).toFormat(format).toBuffer();
      expect(await decodeImage(bytes, 10_000)).toMatchObject({ width: 40, height: 30, channels: 3 });
      expect(await sniff(bytes)).toBe(`image/${format}`);
    },
  );

  test('alpha is dropped, not blended', async () => {
    const pixel = {
      width: 1,
      height: 2,
      channels: 4 as const,
      background: { r: 10, g: 20, b: 30, alpha: 0 },
    };
    const bytes = await sharp({ create: pixel }).png().toBuffer();
    expect(Array.from((await decodeImage(bytes, 100)).data)).toEqual([10, 20, 30, 10, 20, 30]);
  });

  test('grey becomes three equal channels', async () => {
    const bytes = await sharp(Buffer.from([0, 100, 200]), { raw: { width: 3, height: 1, channels: 1 } })
      .png()
      .toBuffer();
    expect(Array.from((await decodeImage(bytes, 100)).data)).toEqual([0, 0, 0, 100, 100, 100, 200, 200, 200]);
  });

  test('EXIF orientation is applied', async () => {
    const bytes = await noise(40, 30).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    expect(await decodeImage(bytes, 10_000)).toMatchObject({ width: 30, height: 40 });
  });

  test('20000 x 20000 pixels are a 413 before anything is decoded', async () => {
    const bytes = await sharp({ create: { width: 1, height: 1, channels: 3, background: '#000' } })
      .png()
      .toBuffer();
    // The header says how large it is; its checksum is over the type and the fields.
    bytes.writeUInt32BE(20_000, 16);
    bytes.writeUInt32BE(20_000, 20);
    bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29);
    await expect(decodeImage(bytes, 50_000_000)).rejects.toMatchObject({
      code: 'payload_too_large',
      message: expect.stringMatching(/20000 x 20000.*MAX_PIXELS/),
    });
  });

  test.each(['jpeg', 'png', 'webp'] as const)('a truncated %s is a 422', async (format) => {
    const bytes = await noise(200, 200).toFormat(format).toBuffer();
    await expect(decodeImage(bytes.subarray(0, bytes.length / 2), 1e6)).rejects.toMatchObject({
      code: 'unprocessable',
    });
  });

  test('SVG is not decoded even when it comes this far', async () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
    await expect(decodeImage(svg, 1e6)).rejects.toMatchObject({ code: 'unprocessable' });
  });
});

describe('what bytes are', () => {
  test.each([
    ['<svg xmlns="http://www.w3.org/2000/svg"/>', /SVG/],
    ['<?xml version="1.0"?><svg width="1"/>', /SVG/],
    ['<!DOCTYPE html><html>', /HTML/],
  ])('%s', async (text, expected) => {
    expect(await sniff(Buffer.from(text))).toMatch(expected);
  });

  test('text is nothing known', async () => {
    expect(await sniff(Buffer.from('hello world'))).toBeUndefined();
  });
});

describe('Base64', () => {
  test.each([
    ['aGk=', 'hi'],
    ['aGk', 'hi'],
    ['aG\nk=', 'hi'],
    ['data:image/png;base64,aGk=', 'hi'],
    ['data:;base64,aGk=', 'hi'],
    ['_-8', '\xff\xef'],
  ])('%j', async (value, expected) => {
    expect(Buffer.from(await decodeBase64(value, 100)).toString('latin1')).toBe(expected);
  });

  test.each(['***', 'data:image/png,hello', 'data:image/png;base64,', 'aGk=aGk=', 'aGk===', '====', ''])(
    '%j is a 422',
    async (value) => {
      await expect(decodeBase64(value, 100)).rejects.toMatchObject({ code: 'unprocessable' });
    },
  );

  test('the limit is on decoded bytes', async () => {
    expect(await decodeBase64(Buffer.alloc(100).toString('base64'), 100)).toHaveLength(100);
    await expect(decodeBase64(Buffer.alloc(101).toString('base64'), 100)).rejects.toThrow(/MAX_MEDIA_BYTES/);
    await expect(decodeBase64(Buffer.alloc(1e6).toString('base64'), 100)).rejects.toThrow(/MAX_MEDIA_BYTES/);
  });

  test.each([3e6, 3e6 + 1, 3e6 + 2])('%i bytes, in lines, are read piece by piece', async (size) => {
    const bytes = Buffer.from(Uint8Array.from({ length: size }, (_, i) => (i * 31) ^ (i >> 8)));
    const text = `data:image/png;base64,${bytes.toString('base64').replace(/.{76}/g, '$&\r\n')}`;
    let pauses = 0;
    const pause = async () => void pauses++;
    expect(bytes.equals(await decodeBase64(text, size, pause))).toBe(true);
    expect(pauses).toBeGreaterThan(3);
    const broken = `${text.slice(0, 2_000_000)}=${text.slice(2_000_000)}`;
    await expect(decodeBase64(broken, size)).rejects.toMatchObject({ code: 'unprocessable' });
  });
});

describe('image processors', () => {
  const image = (width: number, height: number) => ({
    data: Uint8Array.from({ length: width * height * 3 }, (_, i) => (i * 7) % 256),
    ...{ width, height, channels: 3 },
  });

  test.each([
    [{ image_processor_type: 'ViTImageProcessor', size: 32 }, [32, 32]],
    [{ image_processor_type: 'ViTImageProcessorFast', size: { height: 16, width: 24 } }, [16, 24]],
    [{ image_processor_type: 'CLIPImageProcessor', size: 32, crop_size: 28 }, [28, 28]],
    [{ feature_extractor_type: 'CLIPFeatureExtractor', size: 32, do_center_crop: false }, [32, 57]],
    [{ image_processor_type: 'ConvNextImageProcessor', size: { shortest_edge: 384 } }, [384, 384]],
    [{ image_processor_type: 'BitImageProcessor', do_resize: false, crop_size: 200 }, [200, 200]],
  ])('%j gives %j', (config, [height, width]) => {
    expect(createImageProcessor(config).process(image(90, 50))).toMatchObject({ height, width });
  });

  test('an image smaller than the crop stands in black', () => {
    const config = {
      image_processor_type: 'BitImageProcessor',
      do_resize: false,
      do_normalize: false,
      crop_size: 5,
    };
    const white = { data: new Uint8Array(2 * 2 * 3).fill(255), width: 2, height: 2, channels: 3 };
    const { values } = createImageProcessor(config).process(white);
    const rows = [0, 1, 2, 3, 4].map((y) =>
      Array.from(values.subarray(y * 5, y * 5 + 5), Math.round).join(''),
    );
    // Python pads ceil(3 / 2) = 2 rows above and columns before.
    expect(rows).toEqual(['00000', '00000', '00110', '00110', '00000']);
  });

  test('an unknown processor is refused, not guessed', () => {
    expect(() => createImageProcessor({ image_processor_type: 'NewImageProcessor' })).toThrow(
      /NewImageProcessor/,
    );
  });
});
