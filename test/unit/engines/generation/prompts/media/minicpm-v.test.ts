import {
  createMiniCpmOcrFamily,
  createMiniCpmVFamily,
} from '../../../../../../runtime/engines/generation/prompts/media/minicpm-v.js';
import type { TextTokenizer } from '../../../../../../runtime/engines/tokenizers/tokenizer.js';

const TOKENS = [
  'image_token',
  'video_token',
  ...['image', 'slice', 'image_id'].flatMap((name) => [`${name}_start_token`, `${name}_end_token`]),
];
const tokenizer = {
  config: Object.fromEntries(TOKENS.map((name) => [name, `<${name.replace('_token', '')}>`])),
  idOf: () => 7,
} as unknown as TextTokenizer;

const files = (processing: object = {}, config: object = {}, processor: Record<string, unknown> = {}) => ({
  config: { image_token_id: 7, vision_config: { patch_size: 2 }, ...config },
  processing: { patch_size: 2, scale_resolution: 8, max_slice_nums: 2, ...processing },
  ...{ processor, tokenizer },
});

const wide = { height: 8, width: 16 };

test('images have numbers, also where one comes twice, and slices stand behind the whole one', () => {
  const { layout, expand } = createMiniCpmVFamily(files());
  const all = [layout(wide), layout(wide)];
  const slices = '<slice_start><image><slice_end>'.repeat(2);
  const written = (number: number) =>
    `<image_id_start>${number}<image_id_end><image_start><image><image_end>${slices}`;
  expect(all.map((one) => expand(one, all))).toEqual([written(0), written(1)]);
});

test.each([
  ['preprocessor_config.json', files({ use_image_id: false })],
  ['processor_config.json', files({}, {}, { use_image_id: false })],
])('%s may leave the numbers out', (_, given) => {
  const { layout, expand } = createMiniCpmVFamily(given);
  expect(expand(layout({ height: 8, width: 8 }))).toBe('<image_start><image><image_end>');
});

test('MiniCPM-OCR has more features', () => {
  expect(createMiniCpmOcrFamily(files()).layout(wide).count).toBe(10);
});

test.each([
  [files({ downsample_mode: '4x' }), 'downsample_mode'],
  [files({ patch_size: 4 }), 'patch_size'],
  [files({}, { image_token_id: 8 }), 'image_token_id'],
])('parts that do not fit together are refused: %#', (given, message) => {
  expect(() => createMiniCpmVFamily(given)).toThrow(message);
});
