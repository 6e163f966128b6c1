import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadTokenizer } from '../../../../runtime/engines/tokenizers/tokenizer.js';

const ROOT = path.join(import.meta.dirname, '../../../fixtures/vocabularies');

/** Of scripts/fixtures/vocabulary_tokenizers.py. */
interface Case {
  text: string;
  pair?: string;
  ids: number[];
  types?: number[];
  offsets: [number, number][];
  decoded: string;
}

const names = await readdir(ROOT);

test.each(names)('%s: a vocabulary alone reads texts as Python does', async (name) => {
  const dir = path.join(ROOT, name);
  const cases = JSON.parse(await readFile(path.join(dir, 'cases.json'), 'utf8')) as Case[];
  const tokenizer = await loadTokenizer(dir);
  for (const { text, pair, ids, types, decoded } of cases) {
    const found = tokenizer.encode(text, { pair, maxLength: tokenizer.modelMaxLength });
    expect({ text, pair, ids: found.ids }).toEqual({ text, pair, ids });
    if (types) expect(found.typeIds).toEqual(types);
    expect(tokenizer.decode(ids, { skipSpecialTokens: false, cleanUp: false })).toBe(decoded);
  }
});

describe('refused', () => {
  let dir: string;
  beforeEach(async () => void (dir = await mkdtemp(path.join(tmpdir(), 'vocabulary-'))));
  afterEach(() => rm(dir, { recursive: true }));

  test.each([
    ['a class that nobody converts here', { tokenizer_class: 'BertJapaneseTokenizer' }, /no tokenizer.json/],
    ['a type that nobody converts here', { model_type: 'ctrl' }, /no tokenizer.json/],
    ['words without a list', { model_type: 'bert' }, /neither tokenizer.json nor vocab.txt/],
    ['pairs without merges', { model_type: 'gpt2' }, /no merges.txt/],
  ])('%s', async (_, config, message) => {
    await copyFile(path.join(ROOT, 'gpt2/vocab.json'), path.join(dir, 'vocab.json'));
    await writeFile(path.join(dir, 'config.json'), JSON.stringify(config));
    await expect(loadTokenizer(dir)).rejects.toThrow(message);
  });
});
