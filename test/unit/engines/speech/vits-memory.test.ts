import { sizesOf } from '../../../../builder/plan/network/sizes.js';
import { vitsBytes } from '../../../../runtime/engines/speech/vits/vits-memory.js';

/** facebook/mms-tts-eng's shape. */
const MMS = {
  ...{ hidden_size: 192, ffn_dim: 768, num_attention_heads: 2, num_hidden_layers: 6 },
  ...{ upsample_initial_channel: 512, upsample_rates: [8, 8, 2, 2] },
};
const SIZES = sizesOf(MMS);

test('a sentence takes some hundred megabytes, a page of text more than most servers have', () => {
  expect(vitsBytes(SIZES, MMS, 201)).toBeGreaterThan(100e6);
  expect(vitsBytes(SIZES, MMS, 201)).toBeLessThan(600e6);
  expect(vitsBytes(SIZES, MMS, 20_000)).toBeGreaterThan(20e9);
});

test('more letters never take less', () => {
  const bytes = [1, 2, 10, 100, 1000].map((letters) => vitsBytes(SIZES, MMS, letters));
  expect(bytes).toEqual(bytes.toSorted((a, b) => a - b));
});
