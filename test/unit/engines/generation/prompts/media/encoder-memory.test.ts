import { sizesOf } from '../../../../../../builder/plan/network/sizes.js';
import type { LoadRequest } from '../../../../../../runtime/core/load-request.js';
import { inMegabytes } from '../../../../../../runtime/memory.js';
import {
  planEncoderMemory,
  withoutReserved,
} from '../../../../../../runtime/engines/generation/prompts/media/encoder-memory.js';

const SIZES = sizesOf({
  model_type: 'qwen2_vl',
  vision_config: { embed_dim: 1280, num_heads: 16, mlp_ratio: 4, hidden_size: 1536 },
}).vision;
const request = (limit?: number): LoadRequest => ({
  spec: { graphs: { decoder_model_merged: 'onnx/d.onnx' }, files: [] } as unknown as LoadRequest['spec'],
  ...{
    dir: '',
    device: 'cpu',
    threads: 1,
    workers: 0,
    copyWeights: false,
    cacheBytes: 0,
    maxPixels: 1,
    maxSeconds: 1,
  },
  memory: limit === undefined ? undefined : { limit, bodies: 0 },
});

test('an image of more patches than there is memory for is refused by what it takes', () => {
  const plan = planEncoderMemory(request(8 * 2 ** 30), SIZES, 65_536);
  plan.check(1024, 'image');
  expect(() => plan.check(65_536, 'image')).toThrow(
    /^the image becomes 65536 patches, whose run takes up to \d+ MB; in the \d+ MB of memory .* room for \d+ patches/,
  );
  expect(() => plan.check(65_536, 'image')).toThrow(expect.objectContaining({ code: 'payload_too_large' }));
});

test('what the largest image takes is set aside, and half of the room at most', () => {
  const [small, large] = [1024, 65_536].map((most) => planEncoderMemory(request(8 * 2 ** 30), SIZES, most));
  expect(small!.reserved).toBeLessThan(400 * 2 ** 20);
  expect(large!.reserved).toBeGreaterThan(2 ** 30);
  expect(large!.reserved).toBeLessThan(4 * 2 ** 30);
  const { memory } = withoutReserved(request(8 * 2 ** 30), large!);
  expect(inMegabytes(memory!.bodies)).toBe(inMegabytes(large!.reserved));
});

test.each([
  ['mistral3', {}, true],
  ['qwen3_vl', {}, true],
  ['qwen2_5_vl', { window_size: 112 }, false],
  ['idefics3', {}, false],
])('scores of graphs of ours for %s are held in part: %j %j', (model_type, vision, inPart) => {
  const sizes = sizesOf({ model_type, vision_config: { hidden_size: 1024, ...vision } }).vision;
  const own = request(8 * 2 ** 30);
  const written = { ...own, spec: { ...own.spec, written: [] } };
  // Sixteen heads of 12101 x 12101 scores, twice, would be 23 GB; states are 1.1 GB.
  const [exported, ours] = [own, written].map((each) => planEncoderMemory(each, sizes, 12_101));
  expect(() => exported!.check(12_101, 'image')).toThrow(/there is room for \d+ patches: send a smaller/);
  const tried = () => ours!.check(12_101, 'image');
  if (inPart) tried();
  else expect(tried).toThrow(/there is room for/);
});

test('without a limit nothing is refused', () => {
  const plan = planEncoderMemory(request(), SIZES, Infinity);
  plan.check(1e6, 'image');
  expect(plan.reserved).toBe(0);
});
