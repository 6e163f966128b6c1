import { createImageProcessor } from '../../../../../runtime/engines/processors/image/image-processor.js';

/** Large images keep nobody waiting. */

const image = (width: number, height: number) => ({
  data: Uint8Array.from({ length: width * height * 3 }, (_, i) => (i * 7) & 255),
  ...{ width, height, channels: 3 },
});

const never = new AbortController().signal;

test.each(['ViT', 'Owlv2', 'DepthPro', 'ConvNext', 'Detr'])('%s: in slices as at once', async (name) => {
  const { process, processInSlices } = createImageProcessor({
    image_processor_type: `${name}ImageProcessor`,
    size: name === 'Detr' ? { shortest_edge: 40, longest_edge: 60 } : 48,
  });
  const given = image(90, 70);
  expect(await processInSlices(given, never)).toEqual(process(given));
});

test('others are served in between, and a caller who leaves ends the work', async () => {
  const { processInSlices } = createImageProcessor({ image_processor_type: 'Owlv2ImageProcessor' });
  const given = image(1600, 1200);
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await processInSlices(given, never);
  isDone = true;
  expect(turns).toBeGreaterThan(3);

  const leaving = new AbortController();
  const working = processInSlices(given, leaving.signal);
  setImmediate(() => leaving.abort(new Error('left')));
  await expect(working).rejects.toThrow('left');
});
