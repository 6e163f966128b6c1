import { mergesOf } from '../../../../runtime/engines/tokenizers/sentencepiece/merges.js';

/** Every place of every piece, as transformers tries them. */
function everyWay(
  pieces: readonly { text: string; score: number }[],
  ids: ReadonlyMap<string, number | null>,
) {
  const ways = pieces.flatMap(({ text, score }) => {
    const chars = Array.from(text);
    return chars
      .map((_, cut) => [chars.slice(0, cut).join(''), chars.slice(cut).join('')] as const)
      .filter(([left, right]) => ids.has(left) && ids.has(right))
      .map((pair) => ({ pair, score, order: pair.map((part) => ids.get(part) ?? 0) }))
      .sort((a, b) => a.order[0]! - b.order[0]! || a.order[1]! - b.order[1]!);
  });
  const length = (text: string) => Array.from(text).length;
  return ways
    .sort(
      (a, b) =>
        b.score - a.score || length(b.pair[0]) - length(a.pair[0]) || length(b.pair[1]) - length(a.pair[1]),
    )
    .map(({ pair }) => pair);
}

/** Pieces put together of earlier ones, some of them of the same score, with letters that take two units. */
function vocabulary(size: number): { text: string; score: number }[] {
  const texts = ['a', 'b', 'c', '▁', '😀', '𝒳', 'é'];
  const seen = new Set(texts);
  for (let i = 0, state = 7; seen.size < size; i++) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    const text = texts[state % texts.length]! + texts[(state >> 8) % texts.length]!;
    if (text.length > 12 || seen.has(text)) continue;
    seen.add(text);
    texts.push(text);
  }
  return texts.map((text, i) => ({ text, score: -Math.floor(i / 3) }));
}

test('merges are all the ways that pieces can be put together, in the order of transformers', () => {
  const pieces = vocabulary(400);
  const ids = new Map<string, number | null>(pieces.map(({ text }, id) => [text, id]));
  ids.set('b', null).delete('c');
  const found = mergesOf(pieces, ids);
  expect(found.length).toBeGreaterThan(400);
  expect(found).toEqual(everyWay(pieces, ids));
});

test('a piece of a hundred thousand letters that is put together of none takes next to no time', () => {
  const text = 'ab'.repeat(50_000);
  const started = performance.now();
  expect(mergesOf([{ text, score: 0 }], new Map([[text, 0]]))).toEqual([]);
  // A string for each place would take minutes.
  expect(performance.now() - started).toBeLessThan(5000);
});
