import type { FamilyFiles } from '../../../../../../runtime/engines/generation/prompts/media/family.js';
import { createGlmAsrFamily } from '../../../../../../runtime/engines/generation/prompts/media/glmasr.js';

const files = (processor: object = {}, processing: object = {}, config: object = {}): FamilyFiles => ({
  config: { ...config },
  processing: { feature_size: 2, ...processing },
  processor: { ...processor },
  tokenizer: { idOf: () => 5, tokenOf: () => '<|pad|>' } as unknown as FamilyFiles['tokenizer'],
});
const SECOND = 16_000;

/** Frames are ceil(samples / 160), of which a convolution leaves half and a feature takes four (_get_audio_token_length). */
test.each([
  [961, 1, 1],
  [SECOND, 12, 1],
  [30 * SECOND, 375, 1],
  [30 * SECOND + 960, 375, 1],
  [30 * SECOND + 961, 376, 2],
  [1000 * SECOND, 21 * 375, 21],
])('%i samples become %i features in %i windows', async (samples, count, windows) => {
  const family = createGlmAsrFamily(files());
  expect(family.layout(samples)).toEqual({ count, patches: 1500 });
  if (windows > 2) return;
  const runs = await family.prepare(new Float32Array(samples).fill(0.1), AbortSignal.timeout(60_000));
  const made = runs.map((run) => run());
  expect(made.map(({ input_features }) => input_features!.dims)).toEqual(
    Array.from({ length: windows }, () => [1, 2, 3000]),
  );
  const features = made.map(({ feature_count }) => Number(feature_count!.data[0]));
  expect(features.reduce((sum, one) => sum + one)).toBe(count);
});

test('a clip without a whole feature, and two clips in a conversation, are refused', () => {
  const { layout, expand } = createGlmAsrFamily(files());
  expect(() => layout(960)).toThrow('too short');
  const one = { count: 2, patches: 1 };
  expect(expand(one, [one])).toBe('<|pad|><|pad|>');
  expect(() => expand(one, [one, one])).toThrow('one audio clip');
});

test.each([
  ['windows of no whole number of features', {}, { chunk_length: 1 }, {}],
  ['windows longer than max_audio_len', { max_audio_len: 20 }, {}, {}],
  ['another token of audio', {}, {}, { audio_token_id: 6 }],
])('%s: refused', (_, processor, processing, config) => {
  expect(() => createGlmAsrFamily(files(processor, processing, config))).toThrow();
});
