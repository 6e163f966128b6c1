import { createOvis2Family } from '../../../../../../runtime/engines/generation/prompts/media/ovis2.js';
import type { TextTokenizer } from '../../../../../../runtime/engines/tokenizers/tokenizer.js';

const TOKENS = ['<IMG_ATOM>', '<IMG_START>', '<IMG_GRID>', '<IMG_COL>', '<IMG_ROW>', '<IMG_END>'];
const idOf = (token: string) => (TOKENS.includes(token) ? 7 + TOKENS.indexOf(token) : undefined);
const tokenizer = { tokenOf: (id: number) => TOKENS[id - 7], idOf, config: {} } as unknown as TextTokenizer;

const family = (config: object, processor: object = {}) =>
  createOvis2Family({
    config: {
      ...{ image_token_id: 7, visual_indicator_token_ids: [8, 9, 10, 11, 12] },
      ...{ vision_config: { image_size: 28, patch_size: 14, hidden_stride: 2 }, ...config },
    },
    processing: { crop_to_patches: true, max_patches: 4, size: { height: 28, width: 28 } },
    processor: { image_seq_length: 1, ...processor },
    tokenizer,
  });

test('marks stand around and between tiles', () => {
  const { layout, expand } = family({});
  const high = layout({ height: 56, width: 28 });
  expect(high).toEqual({ count: 7, patches: 4, parts: { rows: 1, columns: 2 } });
  expect(expand(high)).toBe('<IMG_START><IMG_ATOM><IMG_GRID><IMG_ATOM><IMG_COL><IMG_ATOM><IMG_END>');
  expect(expand(layout({ height: 28, width: 28 }))).toBe('<IMG_START><IMG_ATOM><IMG_GRID><IMG_END>');
});

test.each([
  ['another token of features', { image_token_id: 8 }, {}, 'image_token_id'],
  ['other marks', { visual_indicator_token_ids: [8, 9] }, {}, 'visual_indicator_token_ids'],
  ['another number of features', {}, { image_seq_length: 4 }, '1 features'],
  ['other images', { vision_config: {} }, {}, 'image_size'],
])('files with %s are refused', (_, config, processor, message) => {
  expect(() => family(config, processor)).toThrow(message);
});
