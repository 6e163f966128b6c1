import { createDeepseekVlHybridFamily } from '../../../../../../runtime/engines/generation/prompts/media/deepseek-vl-hybrid.js';
import type { TextTokenizer } from '../../../../../../runtime/engines/tokenizers/tokenizer.js';

const square = (edge: number) => ({ height: edge, width: edge });
const plain = { do_rescale: false, do_normalize: false };

const family = (large: number) =>
  createDeepseekVlHybridFamily({
    config: {
      image_token_id: 7,
      vision_config: { image_size: 16, patch_size: 8 },
      high_res_vision_config: { image_size: 32, patch_size: 8 },
    },
    processing: {
      ...{ size: square(16), high_res_size: square(large), min_size: 4, ...plain },
      ...{ image_mean: [0.5, 0.25, 0.1], high_res_image_mean: [0.9, 0.9, 0.9] },
    },
    processor: { num_image_tokens: 4 },
    tokenizer: { tokenOf: () => '<image>', idOf: () => 7, config: {} } as unknown as TextTokenizer,
  });

test('both squares have bars of the small one’s means', () => {
  const image = { height: 40, width: 20, channels: 3 as const, data: new Uint8Array(40 * 20 * 3).fill(255) };
  const found = family(32).prepare(image)[0]!();
  const corners = [found['pixel_values']!, found['high_res_pixel_values']!].map(({ data, dims }) =>
    [0, 1, 2].map((channel) => data[channel * dims[2]! ** 2]),
  );
  expect(corners).toEqual([
    [127, 63, 25],
    [127, 63, 25],
  ]);
});

test('large squares are those of the network', () => {
  expect(family(32).mostPatches).toBe(16);
  expect(() => family(48)).toThrow('high_res_size');
});
