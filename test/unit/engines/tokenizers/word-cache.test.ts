import { withWordCache } from '../../../../runtime/engines/tokenizers/word-cache.js';

function counting() {
  const cuts: string[] = [];
  const cut = withWordCache((word, take) => {
    cuts.push(word);
    for (let at = 0; at < word.length; at++) take(word.charCodeAt(at), at, at + 1);
  });
  const tokensOf = (word: string) => {
    const tokens: number[][] = [];
    cut(word, (...token) => void tokens.push(token));
    return tokens;
  };
  return { cuts, tokensOf };
}

test('a word is cut once and has the same tokens each time', () => {
  const { cuts, tokensOf } = counting();
  const first = tokensOf('ab');
  expect(first).toEqual([
    [97, 0, 1],
    [98, 1, 2],
  ]);
  expect(tokensOf('ab')).toEqual(first);
  expect(cuts).toEqual(['ab']);
});

test('long words and too many words are not kept', () => {
  const { cuts, tokensOf } = counting();
  tokensOf('x'.repeat(25));
  tokensOf('x'.repeat(25));
  expect(cuts).toHaveLength(2);
  for (let i = 0; i <= 20_000; i++) tokensOf(`w${i}`);
  tokensOf('w0');
  expect(cuts).toHaveLength(2 + 20_001 + 1);
});
