import { createGemma3Family } from '../../../../../../runtime/engines/generation/prompts/media/gemma3.js';
import type { TextTokenizer } from '../../../../../../runtime/engines/tokenizers/tokenizer.js';

const TOKENS = ['<pad>', '<i>', '<b>', '<e>'];
const IMAGES = { size: { height: 8, width: 8 }, image_mean: [0, 0, 0], image_std: [1, 1, 1] };

const family = (named: object, config: object = {}) =>
  createGemma3Family({
    config: {
      image_token_index: 1,
      boi_token_index: 2,
      eoi_token_index: 3,
      mm_tokens_per_image: 2,
      ...config,
    },
    processing: { ...IMAGES, image_processor_type: 'SiglipImageProcessor' },
    processor: {},
    tokenizer: {
      config: named,
      tokenOf: (id: number) => TOKENS[id],
      idOf: (text: string) => (TOKENS.includes(text) ? TOKENS.indexOf(text) : undefined),
    } as unknown as TextTokenizer,
  });

test.each([
  [
    'the tokenizer names',
    { boi_token: '<b>', eoi_token: '<e>' },
    { eoi_token_index: 0 },
    '\n\n<b><i><i><e>\n\n',
  ],
  ['config.json names', {}, { eoi_token_index: 1 }, '\n\n<b><i><i><i>\n\n'],
])('an image stands between the tokens that %s', (_, named, config, written) => {
  expect(family(named, config).expand({ count: 2, patches: 4 })).toBe(written);
});

test.each([
  [{}, { eoi_token_index: 9 }],
  [{ eoi_token: '<none>' }, {}],
])('%j and %j name no token', (named, config) => {
  expect(() => family(named, config)).toThrow('eoi_token_index names no token');
});
