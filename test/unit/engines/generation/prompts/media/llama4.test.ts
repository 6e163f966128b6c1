import { createLlama4Family } from '../../../../../../runtime/engines/generation/prompts/media/llama4.js';
import type { TextTokenizer } from '../../../../../../runtime/engines/tokenizers/tokenizer.js';

const VISION = { image_size: 24, patch_size: 12 };

const family = (processing: object = {}, processor: object = {}, config: object = {}) =>
  createLlama4Family({
    config: { image_token_index: 7, vision_config: VISION, ...config },
    processing: { size: { height: 24, width: 24 }, max_patches: 4, ...processing },
    processor: { patch_size: 12, ...processor },
    tokenizer: { idOf: () => 7, config: {} } as unknown as TextTokenizer,
  });

test('a large image is written tile by tile, with the whole image at the end', () => {
  const { layout, expand } = family();
  const found = layout({ height: 40, width: 48 });
  expect(found).toEqual({ count: 5, patches: 5, parts: { rows: 2, columns: 2 } });
  const row = '<|patch|><|tile_x_separator|><|patch|><|tile_y_separator|>';
  expect(expand(found)).toBe(`<|image_start|>${row}${row}<|image|><|patch|><|image_end|>`);
});

test('a small image is one tile', () => {
  const { layout, expand } = family();
  const found = layout({ height: 10, width: 12 });
  expect(found).toEqual({ count: 1, patches: 5 });
  expect(expand(found)).toBe('<|image_start|><|image|><|patch|><|image_end|>');
});

test('tiles are black where an image ends, and levels are of bfloat16', () => {
  const image = {
    data: new Uint8Array(10 * 24 * 3).fill(200),
    height: 10,
    width: 24,
    channels: 3,
  } as const;
  const [run] = family().prepare(image);
  const { data, dims } = run!()['pixel_values']!;
  expect(dims).toEqual([1, 3, 24, 24]);
  expect([...(data as Float32Array).subarray(0, 240)]).toEqual(Array.from({ length: 240 }, () => 0.5703125));
  expect([...(data as Float32Array).subarray(240, 576)]).toEqual(Array.from({ length: 336 }, () => -1));
});

test.each([
  [{ size: { height: 24, width: 12 } }, {}, {}, 'size'],
  [{ do_resize: false }, {}, {}, 'do_resize'],
  [{ max_patches: 0 }, {}, {}, 'max_patches'],
  [{ resample: 1 }, {}, {}, 'resample'],
  [{}, { patch_size: 4 }, {}, 'patch_size'],
  [{}, { image_token: '<i>' }, {}, 'tokens of images'],
  [{}, {}, { image_token_index: 8 }, 'tokens of images'],
])('%j with %j and %j is refused', (processing, processor, config, named) => {
  expect(() => family(processing, processor, config)).toThrow(named);
});
