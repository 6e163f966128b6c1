import { imagesMask } from '../../../../../../runtime/engines/generation/decoding/prompt.js';
import { createMllamaFamily } from '../../../../../../runtime/engines/generation/prompts/media/mllama.js';
import type { TextTokenizer } from '../../../../../../runtime/engines/tokenizers/tokenizer.js';

const IMAGE = 9;

/** Tiles of 8 pixels, two of which an image has at most: five patches each, with its class. */
const family = (processing = {}, config = {}) =>
  createMllamaFamily({
    config: { vision_config: { image_size: 8, patch_size: 4, max_num_tiles: 2, ...config } },
    processing: { size: { height: 8, width: 8 }, max_image_tiles: 2, ...processing },
    processor: {},
    tokenizer: { idOf: () => IMAGE, config: { bos_token: '<s>' } } as unknown as TextTokenizer,
  });

const one = { count: 1, patches: 10, parts: { rows: 1, columns: 1 } };
const two = { count: 1, patches: 10, parts: { rows: 1, columns: 2 } };

test('a token looks at the image before it, and at those that stand in a row with it', () => {
  const look = family().look!;
  expect(look([1, IMAGE, 2, IMAGE, 3], [two, one])).toEqual([
    [],
    [[0, 10]],
    [[0, 10]],
    [[10, 15]],
    [[10, 15]],
  ]);
  expect(look([IMAGE, IMAGE, 2], [one, two])).toEqual([
    [[0, 5]],
    [
      [0, 5],
      [10, 20],
    ],
    [
      [0, 5],
      [10, 20],
    ],
  ]);
});

test('tokens before all images look at all that there is', () => {
  const states = { type: 'float32', data: new Float32Array(6), dims: [3, 2] };
  expect([...imagesMask({ states, seen: [[], [[1, 2]], [[0, 3]]] }, 0, 2)]).toEqual([2n, 2n, 2n, 0n, 1n, 0n]);
  expect([...imagesMask({ states, seen: [[], [[1, 2]], [[0, 3]]] }, 2, 1)]).toEqual([1n, 1n, 1n]);
});

test('the start token stands behind the images that a text begins with, where the text has none', () => {
  const begin = family().begin!;
  expect(begin('<|image|><|image|>a <|image|>')).toBe('<|image|><|image|><s>a <|image|>');
  expect(begin('a <s>')).toBe('a <s>');
});

test('parts that do not fit together are refused', () => {
  expect(() => family({ max_image_tiles: 3 })).toThrow('max_image_tiles');
  expect(() => family({ size: { height: 12, width: 12 } })).toThrow('size');
  expect(() => family({}, { supported_aspect_ratios: [[1, 1]] })).toThrow('supported_aspect_ratios');
  expect(() => family({ do_pad: false })).toThrow('do_pad');
});
