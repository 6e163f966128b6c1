import type { Delta } from '../../../../runtime/core/delta.js';
import type { GeneratedText, GenerateOptions } from '../../../../runtime/core/handles/index.js';
import type { Decoding } from '../../../../runtime/engines/generation/decoding/decoder.js';
import { generate } from '../../../../runtime/engines/generation/generate.js';
import { answersOf, numberTokenizer as tokenizer, settingsOf } from './support.js';

/** A decoding that always finds the token after the last one likeliest, and counts its ends. */
function counting(failAt = Infinity) {
  const seen = { fed: [] as (readonly number[])[], reorders: [] as (readonly number[])[], ends: 0 };
  const feed = (tokens: readonly number[]) => {
    if (seen.fed.push(tokens) >= failAt) throw new Error('out of memory');
    return tokens.map((token) => new Float32Array(64).fill(0).fill(5, token + 1, token + 2));
  };
  const decoding: Decoding = {
    prefill: async ({ tokens }) => feed(tokens).at(-1)!,
    step: async (tokens) => feed(tokens),
    reorder: (from) => void seen.reorders.push(from),
    end: () => void seen.ends++,
  };
  return { seen, decoding };
}

function begin(
  request: GenerateOptions,
  { decoding, signal = new AbortController().signal }: { decoding: Decoding; signal?: AbortSignal },
) {
  const prompt = [3, 4, 5];
  const settings = settingsOf(request, { promptLength: prompt.length, source: prompt });
  return generate({ prompt: { tokens: prompt }, settings, tokenizer, signal, start: async () => decoding });
}

async function all(pieces: AsyncGenerator<string | Delta, GeneratedText[]>): Promise<string> {
  return (await answersOf(pieces)).map(({ text }) => text).join('|');
}

test('feeds the prompt and then one token at a time', async () => {
  const { seen, decoding } = counting();
  expect(await all(begin({ max_new_tokens: 3 }, { decoding }))).toBe('6 7 8 ');
  expect(seen.fed).toEqual([[3, 4, 5], [6], [7]]);
  expect(seen.ends).toBe(1);
});

test('feeds the prompt of a beam search once and lets every beam go on from it', async () => {
  const { seen, decoding } = counting();
  await all(begin({ max_new_tokens: 2, num_beams: 3 }, { decoding }));
  expect(seen.fed[0]).toEqual([3, 4, 5]);
  expect(seen.reorders[0]).toEqual([0, 0, 0]);
  expect(seen.fed[1]).toHaveLength(3);
  expect(seen.ends).toBe(1);
});

test.each([1, 2])('frees its rows once when step %d fails', async (failAt) => {
  const { seen, decoding } = counting(failAt);
  await expect(all(begin({ max_new_tokens: 9 }, { decoding }))).rejects.toThrow('out of memory');
  expect(seen.ends).toBe(1);
});

test.each([1, 2])('ends within a step when it is cancelled, with %d beams', async (num_beams) => {
  const { seen, decoding } = counting();
  const controller = new AbortController();
  const step = decoding.step.bind(decoding);
  decoding.step = async (tokens) => {
    if (seen.fed.length === 4) controller.abort();
    return step(tokens);
  };
  const pieces = begin({ max_new_tokens: 50, num_beams }, { decoding, signal: controller.signal });
  await expect(all(pieces)).rejects.toThrow('aborted');
  expect(seen.fed).toHaveLength(5);
  expect(seen.ends).toBe(1);
});

test('frees its rows when nobody reads on', async () => {
  const { seen, decoding } = counting();
  for await (const piece of begin({ max_new_tokens: 50 }, { decoding })) if (piece) break;
  expect(seen.ends).toBe(1);
});

describe('tells what an answer came to', () => {
  const told = async (request: GenerateOptions) =>
    (await answersOf(begin(request, { decoding: counting().decoding }))).map(
      ({ tokensIn, tokensOut, finish }) => [tokensIn, tokensOut, finish],
    );

  test.each([
    ['the length', { max_new_tokens: 4 }, [3, 4, 'length']],
    ['an end token, which counts', { max_new_tokens: 4, eos_token_id: 7 }, [3, 2, 'stop']],
    ['a stop string, whose token counts', { max_new_tokens: 4, stop: '7' }, [3, 2, 'stop']],
    ['an end token in the last place', { max_new_tokens: 2, eos_token_id: 7 }, [3, 2, 'stop']],
  ])('that ended by %s', async (_name, request, expected) => {
    expect(await told(request)).toEqual([expected]);
    expect(await told({ ...request, num_beams: 2 })).toEqual([expected]);
  });

  test('for each of several', async () => {
    const answers = await told({ max_new_tokens: 2, do_sample: true, num_return_sequences: 3 });
    expect(answers).toEqual([3, 3, 3].map((tokens) => [tokens, 2, 'length']));
  });
});
