import {
  type Attempt,
  fallbackRules,
  transcribeWithFallback,
} from '../../../../../runtime/engines/generation/speech/fallback.js';

const NONE = { compressionRatio: undefined, logprob: undefined, noSpeech: undefined, vocabularySize: 300 };
const REPEATED: Attempt = { tokens: new Array<number>(100).fill(7), meanLogprob: -0.1 };
const UNLIKELY: Attempt = { tokens: [1, 2, 3], meanLogprob: -2 };
const GOOD: Attempt = { tokens: [4, 5, 6], meanLogprob: -0.2 };

/** Transcribes one text after the other; returns what was taken and what was tried. */
async function transcribe(
  rules: Parameters<typeof transcribeWithFallback>[0],
  attempts: readonly Attempt[],
  silence = 0,
) {
  const tried: (number | undefined)[] = [];
  let asked = 0;
  const transcribed = await transcribeWithFallback(
    rules,
    (temperature) => Promise.resolve(attempts[tried.push(temperature) - 1]!),
    () => Promise.resolve(++asked && silence),
  );
  return { ...transcribed, tried, asked };
}

test('without thresholds the first temperature counts, whatever comes', async () => {
  const found = await transcribe({ ...NONE, temperatures: [0, 0.5] }, [REPEATED]);
  expect(found).toMatchObject({ tokens: REPEATED.tokens, tried: [0], isTrusted: true, isSilent: false });
});

test('texts that repeat themselves or are unlikely are transcribed again, and the first good one counts', async () => {
  const rules = { ...NONE, temperatures: [0, 0.2, 0.4, 0.6], compressionRatio: 2.4, logprob: -1 };
  const found = await transcribe(rules, [REPEATED, UNLIKELY, GOOD]);
  expect(found).toMatchObject({ tokens: GOOD.tokens, tried: [0, 0.2, 0.4], isTrusted: true, asked: 0 });
});

test('the last temperature counts whatever comes, and a high one is not gone by', async () => {
  const rules = { ...NONE, temperatures: [0, 0.5], logprob: -1 };
  const found = await transcribe(rules, [UNLIKELY, UNLIKELY]);
  expect(found).toMatchObject({ tokens: UNLIKELY.tokens, tried: [0, 0.5], isTrusted: false });
});

test('an unlikely text where silence is likely ends the search, also a repeated one', async () => {
  const rules = { ...NONE, temperatures: [0, 0.5], logprob: -1, noSpeech: 0.6, compressionRatio: 1 };
  expect(await transcribe(rules, [{ ...REPEATED, meanLogprob: -3 }], 0.7)).toMatchObject({
    isSilent: true,
    tried: [0],
  });
  expect(await transcribe(rules, [UNLIKELY, GOOD], 0.5)).toMatchObject({ isSilent: false, tried: [0, 0.5] });
});

test('silence is not asked for where the text is likely', async () => {
  const rules = { ...NONE, temperatures: [0], logprob: -1, noSpeech: 0.1 };
  expect(await transcribe(rules, [GOOD], 0.9)).toMatchObject({ isSilent: false, asked: 0 });
});

describe('rules', () => {
  const model = { repository: { logprob_threshold: -1, temperature: 0.7 }, config: { vocab_size: 9 } };

  test('the request counts before the repository, whose temperature does not count', () => {
    expect(fallbackRules({ compression_ratio_threshold: 2 }, undefined, model)).toEqual({
      ...{
        temperatures: [undefined],
        compressionRatio: 2,
        logprob: -1,
        noSpeech: undefined,
        vocabularySize: 9,
      },
    });
    expect(fallbackRules({ logprob_threshold: -3 }, [0, 1], model)).toMatchObject({
      ...{ temperatures: [0, 1], logprob: -3 },
    });
  });

  test('do_sample: false wins over temperatures', () => {
    expect(fallbackRules({ do_sample: false }, [0.5, 1], model).temperatures).toEqual([undefined]);
  });

  test('no_speech_threshold needs logprob_threshold', () => {
    expect(() => fallbackRules({ no_speech_threshold: 0.6 }, 0, { ...model, repository: {} })).toThrow(
      /params\.logprob_threshold/,
    );
  });
});
