import { createGotOcr2Family } from '../../../../../../runtime/engines/generation/prompts/media/got-ocr2.js';
import type { TextTokenizer } from '../../../../../../runtime/engines/tokenizers/tokenizer.js';

const family = (edge: number, vision: object) =>
  createGotOcr2Family({
    config: { image_token_index: 7, vision_config: vision },
    processing: { size: { height: edge, width: edge } },
    processor: {},
    tokenizer: { tokenOf: () => '<imgpad>', config: {} } as unknown as TextTokenizer,
  });

test('each image is 256 features', () => {
  const { layout, expand } = family(1024, {});
  expect(layout({ height: 20, width: 500 })).toEqual({ count: 256, patches: 4096 });
  expect(expand({ count: 256, patches: 4096 })).toBe('<imgpad>'.repeat(256));
});

test.each([
  ['other images than those of the network', 512, {}, 'image_size'],
  ['another number of features', 512, { image_size: 512 }, '64 features'],
])('files with %s are refused', (_, edge, vision, message) => {
  expect(() => family(edge, vision)).toThrow(message);
});
