import { logPositions } from '../../../runtime/models/layers/log-position-bias.js';

test('distances have a row each, those too far the outermost', () => {
  expect(logPositions({ span: 3, farthest: 3 })).toEqual([0, 1, 2, 3, 4, 5, 5]);
});

// make_log_bucket_position of transformers 4.57.6, for the sizes of published models.
test.each([
  [128, 128],
  [131, 131],
  [150, 143],
  [255, 192],
  [300, 207],
  [500, 254],
  [511, 255],
])('a distance of %i is in bucket %i', (distance, bucket) => {
  const rows = logPositions({ span: 256, buckets: 256, farthest: 512 });
  expect([rows[512 + distance], rows[512 - distance]]).toEqual([256 + bucket, 256 - bucket]);
});

test.each([
  { span: 7, buckets: 7, farthest: 32 },
  { span: 64, buckets: 64, farthest: 32 },
  { span: 2 ** 20, farthest: 2 ** 20 },
])('%j makes no table', (sizes) => {
  expect(() => logPositions(sizes)).toThrow(/config\.json: .*position/);
});
