import { createTokenModel } from '../../../../runtime/engines/tokenizers/token-model.js';
import { createUnigram } from '../../../../runtime/engines/tokenizers/unigram.js';

// Scores of t5-small, and what tokenizers 0.22.2 cuts with them once they have come through tokenizer.json.
const SCORES = [
  ['▁', -2.0122928619384766],
  ['-', -5.129043102264404],
  ['---', -12.130167007446289],
  ['...', -8.030110359191895],
  ['.', -3.5449328422546387],
] as const;

test.each([[['▁', '---', '---', '-']], [['▁', '---', '---', '-', '---']], [['▁', '.', '...', '...']]])(
  'rows of pieces that are equally likely are told apart as Rust reads their scores: %j',
  (pieces) => {
    expect(createUnigram(SCORES)(pieces.join(''))).toEqual(pieces);
  },
);

test.each([null, undefined])('an unknown token that is %s is none, whatever words there are', (unknown) => {
  const model = createTokenModel({
    ...{ type: 'BPE', vocab: { null: 0, undefined: 1, a: 2 }, merges: [] },
    ...(unknown === null ? { unk_token: null } : {}),
  });
  const ids: number[] = [];
  model.tokenize('axa', (id) => ids.push(id));
  expect(ids).toEqual([2, 2]);
});
