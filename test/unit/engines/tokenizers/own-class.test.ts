import { createTokenizer } from '../../../../runtime/engines/tokenizers/tokenizer.js';
import type { Component, TokenizerJson } from '../../../../runtime/engines/tokenizers/tokenizer-json.js';
import { alphabet } from '../../../helpers/gguf/learn-merges.js';

const BYTES = alphabet();
const ENCLOSED = '\u0489';
const mark = [...Buffer.from(ENCLOSED)].map((byte) => BYTES[byte]!);
/** Pairs that only some cuts of a text leave together: digits, a letter with a mark. */
const MERGES: [string, string][] = [
  ['1', '2'],
  [mark[0]!, mark[1]!],
  ['b', mark.join('')],
  ['A', 'B'],
  ['a', 'b'],
];
const WORDS = [...BYTES, ...MERGES.map((pair) => pair.join('')), '<|endoftext|>'];

/** Byte pairs that are cut as GPT-2's are. */
const json = {
  added_tokens: [
    {
      ...{ id: WORDS.length - 1, content: '<|endoftext|>', special: true },
      ...{ single_word: false, lstrip: false, rstrip: false, normalized: false },
    },
  ],
  normalizer: null,
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
  post_processor: null,
  decoder: { type: 'ByteLevel' },
  model: { type: 'BPE', vocab: Object.fromEntries(WORDS.map((word, id) => [word, id])), merges: MERGES },
} as unknown as TokenizerJson;

const TEXT = `AB 12 b${ENCLOSED} e\u0301`;

/** As tokenizer.json says. */
const WRITTEN = [259, 32, 256, 32, 98, 257, 32, 101, 204, 129];

/** Ids of transformers 5.24.0's AutoTokenizer over a folder of such files, of 4.57.6's for files of version 4. */
test.each<[model_type: string, tokenizer_class: string, version: string, ids: number[]]>([
  ['qwen2', 'TokenizersBackend', '5.24.0', [259, 32, 49, 50, 32, 98, 257, 32, 195, 169]],
  ['qwen3_5_moe_text', 'TokenizersBackend', '5.24.0', [259, 32, 49, 50, 32, 258, 32, 195, 169]],
  ['qwen3', 'TokenizersBackend', '5.24.0', WRITTEN],
  ['qwen3_5_text', 'TokenizersBackend', '5.24.0', WRITTEN],
  ['qwen2', 'PreTrainedTokenizerFast', '4.57.6', WRITTEN],
  ['qwen3_5_moe_text', 'PreTrainedTokenizerFast', '4.57.6', WRITTEN],
])('the class of %s goes before tokenizer.json (%s, %s)', (model_type, tokenizer_class, version, ids) => {
  const config = { tokenizer_class };
  const model = { model_type, transformers_version: version };
  expect(createTokenizer({ json, config, model }).encode(TEXT).ids).toEqual(ids);
});

test.each([
  ['TokenizersBackend', '5.24.0', 'ab'],
  ['PreTrainedTokenizerFast', '4.57.6', 'AB'],
])("SigLIP 2's class has texts in lower case (%s, %s)", (tokenizer_class, version, seen) => {
  const normalizer: Component = { type: 'Replace', pattern: { String: '~' }, content: '-' };
  const model = { model_type: 'siglip2', transformers_version: version };
  const tokenizer = createTokenizer({ json: { ...json, normalizer }, config: { tokenizer_class }, model });
  expect(tokenizer.encode('AB').ids).toEqual([WORDS.indexOf(seen)]);
});

/** Whether `additional_special_tokens` is read beside `extra_special_tokens`, as 5.24.0's AutoTokenizer reads a folder of such files. */
test.each<[what: string, extra: unknown, id: number | undefined]>([
  ['a list of further tokens', ['<img>'], undefined],
  ['an empty list', [], WORDS.length],
  ['names of tokens of the model', { image_token: '<img>' }, WORDS.length + 1],
])('of version 5, beside %s the older list counts where that is no list', (_, extra, id) => {
  const config = {
    ...{ tokenizer_class: 'TokenizersBackend', additional_special_tokens: ['river'] },
    extra_special_tokens: extra,
  };
  const { ids } = createTokenizer({ json, config, model: undefined }).encode('river');
  expect(ids).toEqual(
    id === undefined ? [...Buffer.from('river')].map((byte) => WORDS.indexOf(BYTES[byte]!)) : [id],
  );
});

test('of version 5, blanks before punctuation stay in texts of byte pairs', () => {
  const config = { clean_up_tokenization_spaces: true };
  const texts = ['TokenizersBackend', 'PreTrainedTokenizerFast'].map((tokenizer_class) => {
    const tokenizer = createTokenizer({ json, config: { ...config, tokenizer_class }, model: undefined });
    return tokenizer.decode(tokenizer.encode('ab ?').ids);
  });
  expect(texts).toEqual(['ab ?', 'ab?']);
});
