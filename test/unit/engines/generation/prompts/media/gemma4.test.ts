import { createGemma4Family } from '../../../../../../runtime/engines/generation/prompts/media/gemma4.js';
import type { TextTokenizer } from '../../../../../../runtime/engines/tokenizers/tokenizer.js';

const IDS: Readonly<Record<string, number>> = { '<i>': 7, '<b>': 8, '<e>': 9, '<a>': 10 };
const NAMES = { image_token: '<i>', boi_token: '<b>', eoi_token: '<e>', audio_token: '<a>' };
const VISION = { patch_size: 4, pooling_kernel_size: 2, position_embedding_size: 160 };

const family = (processing: object = {}, tokenizer: object = NAMES, config: object = {}) =>
  createGemma4Family({
    config: { image_token_id: 7, vision_config: VISION, ...config },
    processing: { patch_size: 4, pooling_kernel_size: 2, max_soft_tokens: 70, ...processing },
    processor: {},
    tokenizer: { idOf: (text: string) => IDS[text], config: tokenizer } as unknown as TextTokenizer,
  });

test.each([
  ['a square one', { height: 100, width: 100 }, { count: 64, patches: 256 }],
  ['a wide one', { height: 24, width: 168 }, { count: 66, patches: 264 }],
  ['a line', { height: 1, width: 50 }, { count: 59, patches: 236 }],
  ['a longer line', { height: 1, width: 500 }, { count: 70, patches: 280 }],
  ['a column', { height: 90, width: 1 }, { count: 70, patches: 280 }],
])('%s becomes as many features as its form allows', (_, size, layout) => {
  expect(family().layout(size)).toEqual(layout);
});

test('features stand between two tokens, whichever version names them', () => {
  expect(family().expand({ count: 2, patches: 8 })).toBe('<b><i><i><e>');
  const { image_token, ...rest } = NAMES;
  const inner = { image_token, model_specific_special_tokens: rest };
  expect(family({}, inner).expand({ count: 1, patches: 4 })).toBe('<b><i><e>');
});

test('features see each other where the language model says so', () => {
  expect(family().ahead).toBeUndefined();
  const config = { text_config: { use_bidirectional_attention: 'vision' } };
  expect(family({}, NAMES, config).ahead).toBe('medium');
});

test('no text may stand for media that are not read', () => {
  expect(family().foreign).toEqual(['<a>', '<|video|>']);
});

test('a run reads patches of values from 0 to 1', () => {
  const image = {
    data: new Uint8Array(24 * 168 * 3).fill(255),
    height: 24,
    width: 168,
    channels: 3,
  } as const;
  const [run] = family().prepare(image);
  const { pixel_values: pixels, spatial_shapes: shapes } = run!();
  expect(pixels!.dims).toEqual([1, 264, 48]);
  expect(new Set(pixels!.data as Float32Array)).toEqual(new Set([1]));
  expect(shapes!.data).toEqual(BigInt64Array.of(6n, 44n));
});

test('an image that is longer than the table of places is refused', () => {
  const config = { vision_config: { ...VISION, position_embedding_size: 100 } };
  expect(() => family({}, NAMES, config).layout({ height: 1, width: 60 })).toThrow(/100 patches long/);
});

test.each([
  [{ max_soft_tokens: 71 }, NAMES, {}, 'max_soft_tokens'],
  [{ do_resize: false }, NAMES, {}, 'do_resize'],
  [{ resample: 1 }, NAMES, {}, 'resample'],
  [{ patch_size: 0 }, NAMES, {}, 'patch_size'],
  [{ pooling_kernel_size: 3 }, NAMES, {}, 'pooling_kernel_size'],
  [{}, { ...NAMES, boi_token: '<none>' }, {}, 'boi_token'],
  [{}, NAMES, { image_token_id: 8 }, 'image_token'],
])('%j with %j and %j is refused', (processing, tokenizer, config, named) => {
  expect(() => family(processing, tokenizer, config)).toThrow(named);
});
