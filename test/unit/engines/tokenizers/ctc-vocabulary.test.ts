import { createCtcVocabulary } from '../../../../runtime/engines/tokenizers/ctc-vocabulary.js';

const tokens = new Map(['<pad>', '|', 'a', 'b', '<unk>'].map((token, id) => [id, token]));

test('equal neighbours are one, blanks part them, and the delimiter is a space', () => {
  expect(createCtcVocabulary(tokens, {}).decode([2, 2, 0, 2, 1, 1, 3, 3])).toBe('aa b');
});

test('scores without a token are the unknown one, and neighbours are equal by name', () => {
  expect(createCtcVocabulary(tokens, {}).decode([2, 7, 8, 4, 3, 7])).toBe('a<unk>b<unk>');
  expect(createCtcVocabulary(tokens, { unk_token: '[UNK]' }).decode([2, 9])).toBe('a[UNK]');
});
