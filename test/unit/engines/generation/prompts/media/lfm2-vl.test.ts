import { createLfm2VlFamily } from '../../../../../../runtime/engines/generation/prompts/media/lfm2-vl.js';
import type { TextTokenizer } from '../../../../../../runtime/engines/tokenizers/tokenizer.js';

const IMAGES = {
  ...{ encoder_patch_size: 4, tile_size: 16, min_image_tokens: 4, max_image_tokens: 12 },
};

const family = (processing: object = {}, tokenizer: object = {}, config: object = {}) =>
  createLfm2VlFamily({
    config: { image_token_id: 7, vision_config: { patch_size: 4 }, ...config },
    processing: { ...IMAGES, ...processing },
    processor: {},
    tokenizer: { tokenOf: () => '<i>', config: tokenizer } as unknown as TextTokenizer,
  });

const large = { height: 48, width: 96 };
const tile = '<i>'.repeat(4);

test('a large image is written tile by tile, with the whole image at the end', () => {
  const { layout, expand } = family({ max_tiles: 2 });
  const found = layout(large);
  expect(found).toEqual({ count: 16, patches: 32, parts: { rows: 1, columns: 2 } });
  expect(expand(found)).toBe(
    `<|image_start|><|img_row_1_col_1|>${tile}<|img_row_1_col_2|>${tile}` +
      `<|img_thumbnail|>${'<i>'.repeat(8)}<|image_end|>`,
  );
});

test('the whole image is left out where the processor says so', () => {
  const { layout, expand, prepare } = family({ max_tiles: 2, use_thumbnail: false });
  expect(expand(layout(large))).not.toContain('thumbnail');
  const image = { data: new Uint8Array(48 * 96 * 3), ...large, channels: 3 } as const;
  const runs = prepare(image).map((run) => run());
  expect(runs.map(({ pixel_values: pixels }) => pixels!.dims)).toEqual([
    [1, 16, 48],
    [1, 16, 48],
  ]);
});

test('a small image, and each where nothing is split, stays whole', () => {
  const whole = { count: 8, patches: 32 };
  expect(family().layout({ height: 16, width: 32 })).toEqual(whole);
  const { layout, expand } = family({ do_image_splitting: false });
  expect(layout(large)).toEqual(whole);
  expect(expand(whole)).toBe(`<|image_start|>${'<i>'.repeat(8)}<|image_end|>`);
});

test('the tokenizer may name the tokens around features, or leave them out', () => {
  const named = { extra_special_tokens: { image_start_token: '<s>' }, image_end_token: '<e>' };
  expect(family({}, named).expand({ count: 1, patches: 4 })).toBe('<s><i><e>');
  const { layout, expand } = family({ max_tiles: 2 }, { use_image_special_tokens: false });
  expect(expand(layout(large))).toBe('<i>'.repeat(16));
});

test.each([
  [{ do_pad: false }, {}, 'do_pad'],
  [{ min_tiles: 4, max_tiles: 3 }, {}, 'min_tiles'],
  [{ max_tiles: 5000 }, {}, 'max_tiles'],
  [{ tile_size: 20 }, {}, 'tile_size'],
  [{ max_image_tokens: 0.5 }, {}, 'max_image_tokens'],
  [{ resample: 1 }, {}, 'resample'],
  [{ max_pixels_tolerance: '2' }, {}, 'max_pixels_tolerance'],
  [{ encoder_patch_size: 8 }, {}, 'encoder_patch_size'],
  [{}, { downsample_factor: 4 }, 'downsample_factor'],
])('settings that Python fails with are refused by name: %j %j', (processing, config, name) => {
  expect(() => family(processing, {}, config)).toThrow(name);
});

test('images that Python fails with, or reads in an order of its own, are refused', () => {
  expect(() => family().layout({ height: 1, width: 700 })).toThrow('patches');
  const single = family({ min_tiles: 1, max_tiles: 2 });
  expect(() => single.layout({ height: 60, width: 50 })).toThrow('single tile');
  expect(() => family({ max_tiles: 2 }).layout({ height: 64, width: 80 })).toThrow('as near to 2 grids');
});
