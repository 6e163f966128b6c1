import { joinMarked, markedPiece } from '../../../../runtime/engines/tokenizers/marked-pieces.js';

test('the last piece of a word has no mark, all others have one', () => {
  expect(markedPiece('harb', false)).toBe('harb@@');
  expect(markedPiece('our</w>', true)).toBe('our');
});

test('an answer that ends within a word keeps the mark, as in Python', () => {
  expect(joinMarked(['the', 'harb@@', 'our', '!'])).toBe('the harbour !');
  expect(joinMarked(['the', '!@@'])).toBe('the !@@');
});
