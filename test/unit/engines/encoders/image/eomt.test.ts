import { eomtMap } from '../../../../../runtime/engines/encoders/image/segments/eomt.js';
import { createImageProcessor } from '../../../../../runtime/engines/processors/image/image-processor.js';

const EOMT = { image_processor_type: 'EomtImageProcessor' };

test.each([
  [{ do_split_image: true }, /do_split_image is not supported/],
  [{ size: { height: 8, width: 8 } }, /size has no shortest_edge/],
])('EoMT with %p is refused', (settings, message) => {
  const image = { data: new Uint8Array(300), width: 10, height: 10, channels: 3 };
  expect(() => createImageProcessor({ ...EOMT, ...settings }).process(image)).toThrow(message);
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

// 3 of 10 pixels: as a float a little more than 0.3, and less than that of 0.31.
test.each([
  [0.3, 2],
  [0.31, 1],
])(
  'a share of %d or more of its own mask keeps a query, as floats compare in Python',
  async (share, count) => {
    const edges = { height: 1, width: 10 };
    const mask = (logit: (x: number) => number) => ({
      values: Float32Array.from({ length: 10 }, (_, x) => logit(x)),
      ...edges,
    });
    const queries = {
      classes: [Float32Array.of(0.5, 0.3, 0.2), Float32Array.of(0.3, 0.5, 0.2)],
      masks: [mask(() => 2), mask((x) => (x < 7 ? 6 : -6))],
    };
    const image = { ...edges, content: edges, original: edges };
    const options = { threshold: 0.1, maskThreshold: 0.5, overlapThreshold: share };
    const { segments } = await eomtMap(queries, image, { ...options, signal: new AbortController().signal });
    expect(segments).toHaveLength(count);
  },
);
