import { createBlip2Family } from '../../../../../../runtime/engines/generation/prompts/media/blip-2.js';
import type { TextTokenizer } from '../../../../../../runtime/engines/tokenizers/tokenizer.js';

const family = (
  edge: number,
  { config = {}, processor = {} }: { config?: object; processor?: object } = {},
) =>
  createBlip2Family({
    config: { image_token_index: 7, ...config },
    processing: { image_processor_type: 'BlipImageProcessor', size: { height: edge, width: edge } },
    processor: { ...processor },
    tokenizer: { tokenOf: () => '<image>', idOf: () => 7, config: {} } as unknown as TextTokenizer,
  });

test('each image is as many features as there are queries', () => {
  const { layout, expand } = family(224);
  expect(layout({ height: 20, width: 500 })).toEqual({ count: 32, patches: 257 });
  expect(expand({ count: 32, patches: 257 })).toBe('<image>'.repeat(32));
});

test.each([
  ['other images than those of the network', 384, {}, 'image_size'],
  ['another number of queries', 224, { processor: { num_query_tokens: 16 } }, '32 features'],
  ['another token of images', 224, { config: { image_token_index: 2 } }, 'image_token_index'],
])('files with %s are refused', (_, edge, changed, message) => {
  expect(() => family(edge, changed)).toThrow(message);
});
