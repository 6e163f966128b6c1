import { createPpChart2TableFamily } from '../../../../../../runtime/engines/generation/prompts/media/got-ocr2.js';
import { expandMedia } from '../../../../../../runtime/engines/generation/prompts/media/media-prompt.js';
import type { TextTokenizer } from '../../../../../../runtime/engines/tokenizers/tokenizer.js';

const family = (processing = {}) =>
  createPpChart2TableFamily({
    config: { image_token_index: 7, vision_config: { image_size: 16, patch_size: 2 } },
    processing: { size: { height: 16, width: 16 }, ...processing },
    processor: {},
    tokenizer: { tokenOf: () => '<pad>', idOf: () => 7, config: {} } as unknown as TextTokenizer,
  });

test('the tokens that a template writes are those of the features', () => {
  const image = family();
  const one = { kind: 'image' as const, layout: image.layout({ height: 9, width: 30 }) };
  const written = `a ${'<pad>'.repeat(4)} b ${'<pad>'.repeat(4)}`;
  expect(expandMedia({ image }, written, [one, one]).text).toBe(written);
  expect(() => expandMedia({ image }, 'a <pad><pad> b', [one])).toThrow();
});

test('filters that PyTorch has otherwise are refused', () => {
  expect(() => family({ resample: 0 })).toThrow('resample 0');
});
