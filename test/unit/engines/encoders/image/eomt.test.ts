import { eomtMap } from '../../../../../runtime/engines/encoders/image/segments/eomt.js';
import { createImageProcessor } from '../../../../../runtime/engines/processors/image/image-processor.js';

const EOMT = { image_processor_type: 'EomtImageProcessor' };

test.each([
  [{ do_split_image: true }, /do_split_image is not supported/],
  [{ size: { height: 8, width: 8 } }, /size has no shortest_edge/],
])('EoMT with %p is refused', (settings, message) => {
  const picture = { data: new Uint8Array(300), width: 10, height: 10, channels: 3 };
  expect(() => createImageProcessor({ ...EOMT, ...settings }).process(picture)).toThrow(message);
});

test('a subtask on which Python fails is a 422', () => {
  const edges = { height: 2, width: 2 };
  const image = { ...edges, content: edges, original: edges };
  const options = { threshold: 0.5, maskThreshold: 0.5, overlapThreshold: 0.5 };
  const { signal } = new AbortController();
  expect(() =>
    eomtMap({ classes: [], masks: [] }, image, { ...options, subtask: 'semantic', signal }),
  ).toThrow(/panoptic and instance/);
});
