import { createInstructBlipFamily } from '../../../../../../runtime/engines/generation/prompts/media/instructblip.js';
import type { TextTokenizer } from '../../../../../../runtime/engines/tokenizers/tokenizer.js';

const image = { data: new Uint8Array(12 * 12 * 3), width: 12, height: 12, channels: 3 } as const;

const tokenizer = (encode: (text: string) => number[]) =>
  ({
    ...{ tokenOf: () => '<image>', idOf: () => 7, config: {} },
    encode: (text: string) => ({ ids: encode(text), typeIds: [] }),
  }) as unknown as TextTokenizer;

const family = (ids: number[], behind = 1) =>
  createInstructBlipFamily({
    config: { image_token_index: 7, qformer_config: { max_position_embeddings: 3, vocab_size: 9 } },
    processing: { image_processor_type: 'BlipImageProcessor', size: { height: 224, width: 224 } },
    processor: {},
    tokenizer: tokenizer((text) => (text.startsWith('<image>') ? [7, behind] : [1])),
    questions: tokenizer(() => ids),
  });

test('the image encoder reads the question', () => {
  const [run] = family([2, 3]).prepare(image, false, 'What is it?');
  expect(run!()['qformer_input_ids']).toEqual({
    ...{ type: 'int64', data: BigInt64Array.of(2n, 3n), dims: [1, 2] },
  });
});

test.each([
  ['more tokens than it has places', [1, 2, 3, 4], 'reads 3'],
  ['tokens behind its table', [9], 'no vector'],
])('questions of %s are refused', (_, ids, message) => {
  expect(() => family(ids).prepare(image, false, 'What is it?')).toThrow(message);
});

test('tokenizers that read a text behind an image otherwise than alone are refused', () => {
  expect(() => family([1], 2)).toThrow('otherwise than alone');
});
