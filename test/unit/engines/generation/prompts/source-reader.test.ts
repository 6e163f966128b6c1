import type { TranslationOptions } from '../../../../../runtime/core/handles/index.js';
import { createSourceReader } from '../../../../../runtime/engines/generation/prompts/source-reader.js';
import type { PatientTokenizer } from '../../../../../runtime/engines/tokenizers/patient-tokenizer.js';

/** Ids are positions. Every letter of a text is token 90. */
const NLLB = ['</s>', '<unk>', 'eng_Latn', 'fra_Latn', 'zho_Hans'];
const MBART = ['</s>', '<unk>', 'en_XX', 'fr_XX', 'zh_CN'];
const M2M = ['</s>', '<unk>', '__en__', '__fr__', '__ast__'];
const MARIAN = ['</s>', '<unk>', '>>fra<<', '>>zlm_Latn<<', 'x'];

function tokenizerOf(vocabulary: string[], config: Record<string, unknown>): PatientTokenizer {
  const letters = (text: string, room = Infinity) => Array.from(text, () => 90).slice(0, room);
  return {
    config,
    modelMaxLength: 8,
    idOf: (token: string) => (vocabulary.includes(token) ? vocabulary.indexOf(token) : undefined),
    namedId: (name: string) => (name === 'eos_token' ? 0 : 1),
    tokensLike: (pattern: RegExp) => vocabulary.filter((token) => pattern.test(token)),
    encode: async (text: string, { specialTokens = true, maxLength = Infinity } = {}) => ({
      ids: specialTokens ? [...letters(text, maxLength - 1), 0] : letters(text, maxLength),
    }),
  } as unknown as PatientTokenizer;
}

interface Given {
  vocabulary?: string[];
  tokenizer?: Record<string, unknown>;
  config?: Record<string, unknown>;
  task?: string;
}

const { signal } = new AbortController();

function reader({ vocabulary = [], tokenizer = {}, config = {}, task = 'translation' }: Given) {
  const read = createSourceReader({
    tokenizer: tokenizerOf(vocabulary, tokenizer),
    config,
    positions: undefined,
    task,
  });
  return (text: string, languages: TranslationOptions) => read(text, languages, signal);
}

describe('languages that are tokens', () => {
  const chosen = { nllb: ['fra_Latn', 'zho_Hans'], mbart: ['fr_XX', 'zh_CN'], m2m: ['fr', 'ast'] };

  test.each<[string, Given, string[], number[]]>([
    ['NLLB', { vocabulary: NLLB, tokenizer: { tokenizer_class: 'NllbTokenizer' } }, chosen.nllb, [3, 90, 0]],
    [
      'NLLB of the older kind',
      { vocabulary: NLLB, tokenizer: { tokenizer_class: 'NllbTokenizerFast', legacy_behaviour: true } },
      chosen.nllb,
      [90, 0, 3],
    ],
    [
      'mBART',
      { vocabulary: MBART, tokenizer: { tokenizer_class: 'MBartTokenizer' } },
      chosen.mbart,
      [90, 0, 3],
    ],
    [
      'mBART-50',
      { vocabulary: MBART, tokenizer: { tokenizer_class: 'MBart50Tokenizer' } },
      chosen.mbart,
      [3, 90, 0],
    ],
    [
      'M2M100',
      { vocabulary: M2M, tokenizer: { tokenizer_class: 'M2M100Tokenizer' } },
      chosen.m2m,
      [3, 90, 0],
    ],
    [
      'M2M100 by its model type',
      { vocabulary: M2M, config: { model_type: 'm2m_100' } },
      chosen.m2m,
      [3, 90, 0],
    ],
  ])('stand where %s wants them', async (_name, given, [src_lang, tgt_lang], tokens) => {
    expect(await reader(given)('a', { src_lang, tgt_lang })).toMatchObject({ tokens, forcedBosTokenId: 4 });
  });

  const nllb = { vocabulary: NLLB, tokenizer: { tokenizer_class: 'NllbTokenizer', src_lang: 'zho_Hans' } };

  test('stay when the text is cut', async () => {
    const { tokens } = await reader(nllb)('a'.repeat(50), { src_lang: 'fra_Latn', tgt_lang: 'eng_Latn' });
    expect(tokens).toEqual([3, 90, 90, 90, 90, 90, 90, 0]);
  });

  test('of one request leave the next alone', async () => {
    const read = reader(nllb);
    const first = await read('a', { src_lang: 'fra_Latn', tgt_lang: 'eng_Latn' });
    await read('a', { src_lang: 'zho_Hans', tgt_lang: 'fra_Latn' });
    expect(await read('a', { src_lang: 'fra_Latn', tgt_lang: 'eng_Latn' })).toEqual(first);
  });

  test('are the tokenizer’s own in other tasks', async () => {
    expect(await reader({ ...nllb, task: 'summarization' })('a', {})).toEqual({
      tokens: [4, 90, 0],
      taskParams: {},
    });
  });

  test('can be said by the name of a task', async () => {
    const given = {
      vocabulary: M2M,
      config: { model_type: 'm2m_100', task_specific_params: { translation_fr_to_en: { num_beams: 3 } } },
    };
    expect(await reader(given)('a', {})).toEqual({
      tokens: [3, 90, 0],
      forcedBosTokenId: 2,
      taskParams: { num_beams: 3 },
    });
  });

  test.each([
    [{}, 'invalid_input', 'params.src_lang: is required by this model, one of eng_Latn'],
    [{ src_lang: 'fra_Latn' }, 'invalid_input', 'params.tgt_lang: is required'],
    [{ tgt_lang: 'fra_Latn' }, 'invalid_input', 'params.src_lang: is required'],
    [
      { src_lang: 'fr', tgt_lang: 'eng_Latn' },
      'unprocessable',
      'params.src_lang: this model has no "fr"; it has eng_Latn, fra',
    ],
    [
      { src_lang: 'eng_Latn', tgt_lang: '</s>' },
      'unprocessable',
      'params.tgt_lang: this model has no "</s>"',
    ],
  ])('%j is an error that says what there is', async (languages, code, message) => {
    await expect(reader(nllb)('a', languages)).rejects.toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });
});

describe('Marian', () => {
  const several = {
    vocabulary: MARIAN,
    tokenizer: { tokenizer_class: 'MarianTokenizer', source_lang: 'eng' },
  };
  const one = { tokenizer: { tokenizer_class: 'MarianTokenizer', source_lang: 'en', target_lang: 'fr' } };

  test.each([
    ['>>fra<< a', {}, [2, 90, 0]],
    ['>>fra<<a', {}, [2, 90, 0]],
    ['>>xyz<< a', {}, [1, 90, 0]],
    ['a', {}, [90, 0]],
    ['a', { tgt_lang: 'fra' }, [2, 90, 0]],
    ['a', { tgt_lang: 'zlm_Latn', src_lang: 'eng' }, [3, 90, 0]],
    ['>>fra<< a', { tgt_lang: 'zlm_Latn' }, [2, 90, 0]],
  ])('reads %j with %j', async (text, languages, tokens) => {
    expect(await reader(several)(text, languages)).toMatchObject({ tokens });
  });

  test('with one pair takes that pair and no other', async () => {
    expect(await reader(one)('a', { src_lang: 'en', tgt_lang: 'fr' })).toMatchObject({ tokens: [90, 0] });
    await expect(reader(one)('a', { tgt_lang: 'de' })).rejects.toThrow(
      'one pair of languages, there is no choice: fr',
    );
    await expect(reader(one)('a', { src_lang: 'de' })).rejects.toThrow('there is no choice: en');
    await expect(reader(several)('a', { tgt_lang: 'deu' })).rejects.toThrow('it has fra, zlm_Latn');
  });
});

describe('prefixes', () => {
  const config = {
    model_type: 't5',
    prefix: 'p',
    task_specific_params: {
      summarization: { prefix: 'sum' },
      translation_en_to_de: { prefix: 'xxx' },
      translation_en_to_fr: { prefix: 'yy' },
    },
  };

  test.each([
    ['summarization', {}, 4],
    ['text2text-generation', {}, 2],
    ['translation', {}, 4],
    ['translation', { src_lang: 'en', tgt_lang: 'fr' }, 3],
  ])('of %s with %j', async (task, languages, length) => {
    expect((await reader({ task, config })('a', languages)).tokens).toHaveLength(length + 1);
  });

  test('that are not there are refused', async () => {
    await expect(reader({ config })('a', { src_lang: 'de', tgt_lang: 'en' })).rejects.toThrow(
      'it has en to de, en to fr',
    );
    await expect(reader({})('a', { src_lang: 'en', tgt_lang: 'fr' })).rejects.toThrow('there is no choice');
  });
});

test('a text without an end is refused where the model sets no limit', async () => {
  const tokenizer = { ...tokenizerOf([], {}), modelMaxLength: undefined };
  const read = createSourceReader({
    tokenizer,
    config: { num_heads: 8 },
    positions: 'distance',
    task: 'summarization',
  });
  expect((await read('a'.repeat(8000), {}, signal)).tokens).toHaveLength(8001);
  await expect(read('a'.repeat(9000), {}, signal)).rejects.toMatchObject({ code: 'unprocessable' });
});
