import { readFileSync } from 'node:fs';
import { medianFilter } from '../../../../../runtime/engines/generation/speech/word-times/median-filter.js';
import { firstSteps } from '../../../../../runtime/engines/generation/speech/word-times/time-warp.js';
import { tokenSteps } from '../../../../../runtime/engines/generation/speech/word-times/token-steps.js';
import { wordsOf } from '../../../../../runtime/engines/generation/speech/word-times/words.js';
import { loadTokenizer } from '../../../../../runtime/engines/tokenizers/tokenizer.js';

interface Reference {
  end: string;
  words: { tokens: number[]; language: string | null; words: [string, number[]][] }[];
  medians: { width: number; values: (number | null)[]; medians: (number | null)[] }[];
  warps: { tokens: number; steps: number; values: number[]; first: number[] }[];
}

/** By scripts/fixtures/whisper_words.py. */
const reference = JSON.parse(readFileSync('test/fixtures/whisper-words.json', 'utf8')) as Reference;

const floats = (values: readonly (number | null)[]) => Float32Array.from(values, (value) => value ?? NaN);

test.each(reference.medians)('a median of $width around each number', ({ width, values, medians }) => {
  expect(medianFilter(floats(values), width)).toEqual(floats(medians));
});

test.each(reference.warps)(
  '$tokens tokens on their way through $steps steps',
  ({ values, first, ...size }) => {
    expect(firstSteps({ ...size, values: floats(values) })).toEqual(first);
  },
);

test('numbers that are none have a way, too', () => {
  expect(firstSteps({ values: new Float32Array(3).fill(NaN), tokens: 1, steps: 3 })).toEqual([0]);
});

test('heads that look at one step after the other', async () => {
  const [tokens, steps] = [4, 40];
  const head = () => {
    const values = new Float32Array(tokens * steps).fill(0.01);
    for (let token = 0; token < tokens; token++)
      values.fill(0.2, token * steps + token * 10, token * steps + token * 10 + 10);
    return { values, tokens, steps };
  };
  const { signal } = new AbortController();
  expect(await tokenSteps([head(), head()], 7, signal)).toEqual([0, 10, 20, 30]);
  await expect(tokenSteps([head()], 7, AbortSignal.abort())).rejects.toThrow(/abort/);
});

test('tokens are put together to words as Python does it', async () => {
  const tokenizer = await loadTokenizer(
    'test/fixtures/zoo-weights/automatic-speech-recognition/whisper-languages/repo',
  );
  const rules = {
    decode: (ids: readonly number[]) => tokenizer.decode(ids, { skipSpecialTokens: false }),
    end: tokenizer.idOf(reference.end)!,
  };
  expect(reference.words).toHaveLength(39);
  for (const { tokens, language, words } of reference.words) {
    const found = wordsOf(tokens, language ?? undefined, rules);
    expect(found.map(({ text, positions }) => [text, positions])).toEqual(words);
  }
  // The text ends within a character: transformers 4 fails, 5.24 keeps the tokens.
  const cut = wordsOf([157, 119, 253, 157, 119], 'zh', rules);
  expect(cut.map(({ text, positions }) => [text, positions])).toEqual([
    ['ພ', [0, 1, 2]],
    ['\ufffd', [3]],
    ['\ufffd', [4]],
  ]);
});
