import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRandom } from '../../../../../runtime/engines/generation/search/random.js';
import { createTextStream } from '../../../../../runtime/engines/generation/output/text-stream.js';
import { cleanUp } from '../../../../../runtime/engines/tokenizers/clean-up.js';
import { createTokenizer, type TextTokenizer } from '../../../../../runtime/engines/tokenizers/tokenizer.js';

const DIR = join(import.meta.dirname, '../../../../fixtures/tokenizers');

async function tokenizerOf(name: string): Promise<{ tokenizer: TextTokenizer; size: number }> {
  const { tokenizer: json, tokenizer_config: config } = JSON.parse(await readFile(join(DIR, name), 'utf8'));
  return { tokenizer: createTokenizer({ json, config }), size: Object.keys(json.model.vocab).length };
}

function streamed(
  tokenizer: TextTokenizer,
  prompt: number[],
  ids: number[],
  cleanUp: boolean,
  stops: string[] = [],
) {
  const decode = (some: readonly number[]) => tokenizer.decode(some, { cleanUp });
  const stream = createTextStream({
    decode,
    openBytes: tokenizer.openBytes,
    cleanUp,
    prompt,
    stops,
  });
  return { pieces: [...ids.map((id) => stream.push(id)), stream.finish()], stream };
}

/** What Python's pipeline answers: the whole decoded, less as many characters as the prompt has alone. */
function whole(tokenizer: TextTokenizer, prompt: number[], ids: number[], cleanUp: boolean): string {
  const before = Array.from(tokenizer.decode(prompt, { cleanUp })).length;
  return Array.from(tokenizer.decode([...prompt, ...ids], { cleanUp }))
    .slice(before)
    .join('');
}

const NAMES = (await readdir(DIR)).sort();

describe('pieces add up to the whole', () => {
  for (const name of NAMES) {
    test.each([true, false])(`${name}, clean-up %s`, async (cleanUp) => {
      const { tokenizer, size } = await tokenizerOf(name);
      const uniform = createRandom({ seed: 5 });
      for (let round = 0; round < 30; round++) {
        const ids = Array.from({ length: 1 + Math.floor(uniform() * 130) }, () =>
          Math.floor(uniform() * size),
        );
        const prompt = tokenizer.encode('the quiet river,').ids;
        const { pieces } = streamed(tokenizer, prompt, ids, cleanUp);
        expect(pieces.join('')).toBe(whole(tokenizer, prompt, ids, cleanUp));
      }
    });
  }

  test('of a text with emoji, combining marks and blanks before punctuation', async () => {
    const { tokenizer } = await tokenizerOf('llama3-clean-up.json');
    const text = " it 's 👨‍👩‍👧 fine , is n't it ? e\u0301\u0301 … ok . . 'tis 've 'm a ' b";
    const ids = tokenizer.encode(text, { specialTokens: false }).ids;
    const { pieces } = streamed(tokenizer, [], ids, true);
    expect(pieces.join('')).toBe(tokenizer.decode(ids, { cleanUp: true }));
    expect(pieces.some((piece) => piece.includes('\ufffd'))).toBe(false);
    expect(pieces.filter((piece) => piece !== '').length).toBeGreaterThan(10);
  });

  // Clean-up looks at a lone apostrophe first, and at what stands beside it afterwards.
  test.each(["do n ' t", "it  ' s", "ok ' .", "x ' . y ' ve", "a n ' n't", "b   ' re ' ,"])(
    'of %j',
    (text) => {
      const stream = createTextStream({
        ...{ decode: (ids) => cleanUp(String.fromCodePoint(...ids)), openBytes: () => 0 },
        ...{ cleanUp: true, prompt: [], stops: [] },
      });
      const pieces = Array.from(text, (letter) => stream.push(letter.codePointAt(0)!));
      expect(pieces.join('') + stream.finish()).toBe(cleanUp(text));
    },
  );

  test('of a character that never becomes whole', async () => {
    const { tokenizer } = await tokenizerOf('llama3-clean-up.json');
    const ids = tokenizer.encode('a😀', { specialTokens: false }).ids.slice(0, -1);
    const { pieces } = streamed(tokenizer, [], ids, false);
    expect(pieces.at(-1)).toContain('\ufffd');
    expect(pieces.slice(0, -1).join('')).toBe('a');
  });
});

describe('stop strings', () => {
  const run = async (text: string, stops: string[]) => {
    const { tokenizer } = await tokenizerOf('llama3-clean-up.json');
    const ids = tokenizer.encode(text, { specialTokens: false }).ids;
    const { pieces, stream } = streamed(tokenizer, [], ids, false, stops);
    return { text: pieces.join(''), stopped: stream.stopped };
  };

  test.each([
    ['across tokens', 'the quiet river runs', ['et ri'], 'the qui'],
    ['the earliest of several', 'the quiet river runs', ['runs', 'river'], 'the quiet '],
    ['at the very start', 'the quiet river', ['the'], ''],
    ['within an emoji’s neighbours', 'ok 😀 done', ['😀'], 'ok '],
  ])('%s', async (_, text, stops, expected) => {
    expect(await run(text, stops)).toEqual({ text: expected, stopped: true });
  });

  test('what only looked like one comes out in the end', async () => {
    expect(await run('the quiet riv', ['river'])).toEqual({ text: 'the quiet riv', stopped: false });
  });
});
