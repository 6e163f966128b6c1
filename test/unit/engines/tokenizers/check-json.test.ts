import { checkTokenizerJson, listedTokensOf } from '../../../../runtime/engines/tokenizers/check-json.js';

const VALID = {
  added_tokens: [{ id: 0, content: '[PAD]', special: true }],
  normalizer: { type: 'Sequence', normalizers: [{ type: 'Lowercase' }] },
  pre_tokenizer: { type: 'Split', pattern: { Regex: '\\s+' }, behavior: 'Removed', invert: false },
  post_processor: {
    type: 'TemplateProcessing',
    single: [{ SpecialToken: { id: '[CLS]', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
    special_tokens: { '[CLS]': { id: '[CLS]', ids: [1], tokens: ['[CLS]'] } },
  },
  decoder: null,
  model: { type: 'WordPiece', vocab: { '[PAD]': 0, '[CLS]': 1 } },
};

test('a file of the library is taken as it is', () => {
  expect(checkTokenizerJson(VALID)).toBe(VALID);
  expect(checkTokenizerJson({ ...VALID, model: { type: 'Unigram', vocab: [['a', -1]] } })).toBeDefined();
});

// Each was an error of the program, or no pattern at all.
test.each<[string, object]>([
  ['added_tokens', { added_tokens: 0 }],
  ['added_tokens.0', { added_tokens: [null] }],
  ['added_tokens.0.content', { added_tokens: [{ id: 0, content: 1.5 }] }],
  ['normalizer.normalizers', { normalizer: { type: 'Sequence', normalizers: '' } }],
  ['normalizer.type', { normalizer: { type: '__proto__' } }],
  ['pre_tokenizer.type', { pre_tokenizer: { type: 'constructor' } }],
  ['pre_tokenizer.pattern', { pre_tokenizer: { type: 'Split', pattern: null } }],
  ['pre_tokenizer.pattern', { pre_tokenizer: { type: 'Split', pattern: { String: true } } }],
  ['decoder.decoders', { decoder: { type: 'Sequence', decoders: null } }],
  ['post_processor.single', { post_processor: { type: 'TemplateProcessing', single: false } }],
  ['post_processor.single.0', { post_processor: { single: [{ Sequence: { id: 'C' } }] } }],
  ['post_processor.special_tokens.x.ids', { post_processor: { special_tokens: { x: { ids: 1 } } } }],
  ['post_processor.sep', { post_processor: { type: 'RobertaProcessing', sep: null } }],
  ['model', { model: null }],
  ['model.vocab', { model: { type: 'BPE', vocab: '__proto__' } }],
  ['model.vocab', { model: { type: 'Unigram', vocab: [1] } }],
  ['model.merges', { model: { type: 'BPE', vocab: {}, merges: '[' } }],
])('%s is named where it has another form', (place, changed) => {
  const named = expect.objectContaining({
    code: 'not_ready',
    message: expect.stringContaining(`tokenizer.json: ${place}: `) as string,
  });
  expect(() => checkTokenizerJson({ ...VALID, ...changed })).toThrow(named);
});

test('rows of tokenizer_config.json are tokens', () => {
  expect(listedTokensOf({})).toEqual([]);
  expect(listedTokensOf({ added_tokens_decoder: { 7: { content: '<x>', special: true } } })).toEqual([
    { content: '<x>', special: true },
  ]);
  expect(() => listedTokensOf({ added_tokens_decoder: { 7: null } })).toThrow(
    /^tokenizer_config\.json: added_tokens_decoder: 7: /,
  );
});
