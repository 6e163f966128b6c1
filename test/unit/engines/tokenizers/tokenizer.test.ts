import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTokenizer, loadTokenizer } from '../../../../runtime/engines/tokenizers/tokenizer.js';
import type { OffsetEncoding } from '../../../../runtime/engines/tokenizers/tokenizer.js';
import type { TokenizerJson } from '../../../../runtime/engines/tokenizers/tokenizer-json.js';

const ZOO = join(import.meta.dirname, '../../../fixtures/zoo');

interface Fixture {
  tokenizer: TokenizerJson;
  tokenizer_config: Record<string, unknown>;
  encode: { text: string; ids: number[]; types: number[]; bare: number[]; cut: number[] }[];
  decode: { ids: number[]; text: string }[];
  traces: {
    text: string;
    pair: string;
    /** Tokens of a row of both, so that the second needs windows. */
    room: number;
    one: Row;
    parts: Row[];
    pairs?: Row[];
    both: number[];
  }[];
}

/** A OffsetEncoding in which JSON has null for undefined. */
type Row = Record<'ids' | 'typeIds' | 'starts' | 'ends' | 'words' | 'sequences', (number | null)[]>;

const rows = (traced: Iterable<OffsetEncoding>): Row[] => JSON.parse(JSON.stringify([...traced])) as Row[];

const DIR = join(import.meta.dirname, '../../../fixtures/tokenizers');

/** Segments are compared for all kinds, also for those whose class keeps them back. */
const SEGMENTS = { model_input_names: ['input_ids', 'token_type_ids'] };

const load = async (name: string) => JSON.parse(await readFile(join(DIR, name), 'utf8')) as Fixture;

// scripts/fixtures/tokenizer_cases.py wrote these with transformers 4.57.6.
for (const name of (await readdir(DIR)).sort()) {
  describe(`${name} as Python's tokenizer`, () => {
    test('encodes, cuts and numbers segments', async () => {
      const fixture = await load(name);
      const tokenizer = createTokenizer({
        json: fixture.tokenizer,
        config: { ...fixture.tokenizer_config, ...SEGMENTS },
      });
      const got = fixture.encode.map(({ text }) => {
        const { ids, typeIds } = tokenizer.encode(text);
        const bare = tokenizer.encode(text, { specialTokens: false }).ids;
        return { text, ids, types: typeIds, bare, cut: tokenizer.encode(text, { maxLength: 7 }).ids };
      });
      expect(got).toEqual(fixture.encode);
    });

    test('knows where tokens come from, in pairs and windows too', async () => {
      const fixture = await load(name);
      const tokenizer = createTokenizer({
        json: fixture.tokenizer,
        config: { ...fixture.tokenizer_config, ...SEGMENTS },
      });
      const got = fixture.traces.map(({ text, pair, room, pairs }) => {
        const [first, second] = [text, pair].map((each) => tokenizer.tokenize(each, { traces: true }));
        const both = { maxLength: room, stride: 3, truncation: 'only_second' } as const;
        return {
          ...{ text, pair, room, one: rows(tokenizer.tracedRows([first!]))[0]! },
          parts: rows(tokenizer.tracedRows([first!], { maxLength: 8, stride: 2 })),
          ...(pairs ? { pairs: rows(tokenizer.tracedRows([first!, second!], both)) } : {}),
          both: tokenizer.encode(text, { pair, maxLength: 12 }).ids,
        };
      });
      expect(got).toEqual(fixture.traces);
    });

    test('decodes any ids', async () => {
      const fixture = await load(name);
      const tokenizer = createTokenizer({ json: fixture.tokenizer, config: fixture.tokenizer_config });
      expect(fixture.decode.map(({ ids }) => ({ ids, text: tokenizer.decode(ids) }))).toEqual(fixture.decode);
    });
  });
}

describe('createTokenizer', () => {
  const wordLevel = async () => load('word-level.json');

  test.each(['normalizer', 'pre_tokenizer', 'decoder'] as const)('refuses an unknown %s', async (part) => {
    const { tokenizer: json, tokenizer_config: config } = await wordLevel();
    const odd = { ...json, [part]: { type: 'FromTheFuture' } };
    expect(() => createTokenizer({ json: odd, config })).toThrow(/FromTheFuture is not supported/);
  });

  test.each([[{ extra_special_tokens: { image_token: 'zzz' } }], [{ extra_special_tokens: ['zzz'] }]])(
    'a model’s own special tokens are found in texts and left out of them: %j',
    async (own) => {
      const { tokenizer: json, tokenizer_config: config } = await wordLevel();
      const tokenizer = createTokenizer({ json, config: { ...config, ...own } });
      const { ids } = tokenizer.encode('the zzz river');
      expect(ids).toContain(tokenizer.idOf('zzz'));
      expect(tokenizer.specialIds.has(tokenizer.idOf('zzz')!)).toBe(true);
      expect(tokenizer.decode(ids)).not.toContain('zzz');
    },
  );

  test('reads limits, and 1e30 as none', async () => {
    const { tokenizer: json } = await wordLevel();
    const limit = (config: Record<string, unknown>) => createTokenizer({ json, config }).modelMaxLength;
    expect([
      limit({ model_max_length: 77 }),
      limit({ max_len: 9 }),
      limit({ model_max_length: 1e30 }),
    ]).toEqual([...[77, 9, undefined]]);
  });

  test('half a surrogate pair is a character that is not known, not a crash', async () => {
    const { tokenizer: json, tokenizer_config: config } = await load('llama3-clean-up.json');
    const tokenizer = createTokenizer({ json, config });
    expect(tokenizer.decode(tokenizer.encode('a\ud83d').ids)).toBe('a\ufffd');
  });

  test('byte tokens at the end are an open run only where the decoder joins bytes', async () => {
    const of = async (name: string) => {
      const { tokenizer: json, tokenizer_config: config } = await load(name);
      return { tokenizer: createTokenizer({ json, config }), vocabulary: json.model.vocab };
    };
    const { tokenizer, vocabulary } = await of('llama-legacy.json');
    const id = (token: string) => (vocabulary as Record<string, number>)[token]!;
    expect(tokenizer.openBytes([id('<0xE4>'), id('▁'), id('<0xE4>'), id('<0xBD>')])).toBe(2);
    expect((await of('roberta-prefix-left.json')).tokenizer.openBytes([10, 11])).toBe(0);
  });

  test('gives no segment numbers to models that are not to have them', async () => {
    const { tokenizer: json, tokenizer_config: config } = await load('bert-uncased.json');
    const types = (more: object) =>
      createTokenizer({ json, config: { ...config, ...more } }).encode('a', { pair: 'b' }).typeIds;
    expect(types({})).toEqual([0, 0, 0, 1, 1]);
    expect(types({ model_input_names: ['input_ids', 'attention_mask'] })).toEqual([0, 0, 0, 0, 0]);
    expect(types({ tokenizer_class: 'DistilBertTokenizer' })).toEqual([0, 0, 0, 0, 0]);
  });

  test('lower-cases before all else when asked to', async () => {
    const { tokenizer: json, tokenizer_config: config } = await load('roberta-prefix-left.json');
    const lower = createTokenizer({ json, config, lowerCase: true });
    const plain = createTokenizer({ json, config });
    expect(lower.encode('QUIET Boat').ids).toEqual(plain.encode('quiet boat').ids);
  });

  // Numbers of MarianTokenizer, which reads source.spm and looks its pieces up in vocab.json.
  test.each([
    [
      "café  Zürich, 你好 😀 don 't stop",
      [42, 40, 259, 2, 1, 92, 118, 7, 2, 1, 2, 1, 64, 10, 2, 86, 6, 2, 3, 124, 131, 0],
    ],
    ['é', [2, 259, 0]],
    ['üü è La un', [2, 1, 2, 265, 2, 244, 15, 2, 114, 0]],
    ['Ça va? ñandú', [2, 1, 15, 2, 255, 15, 136, 2, 278, 9, 1, 0]],
  ])('pieces of the other language alone do not cut a text: %s', async (text, ids) => {
    const tokenizer = await loadTokenizer(join(ZOO, 'translation/marian/repo'));
    expect(tokenizer.encode(text).ids).toEqual(ids);
  });
});
