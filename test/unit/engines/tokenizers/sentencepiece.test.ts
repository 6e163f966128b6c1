import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { loadTokenizer } from '../../../../runtime/engines/tokenizers/tokenizer.js';

const ROOT = path.join(import.meta.dirname, '../../../fixtures/sentencepiece');

/** Of scripts/fixtures/trained_tokenizers.py. */
interface Case {
  text: string;
  pair?: string;
  ids: number[];
  types?: number[];
  decoded: string;
  shown: string;
}

test.each(await readdir(ROOT))(
  '%s: a model of sentencepiece alone reads texts as Python does',
  async (name) => {
    const dir = path.join(ROOT, name);
    const cases = JSON.parse(await readFile(path.join(dir, 'cases.json'), 'utf8')) as Case[];
    const tokenizer = await loadTokenizer(dir);
    const maxLength = (tokenizer.modelMaxLength ?? Infinity) < 100 ? tokenizer.modelMaxLength : undefined;
    for (const { text, pair, ids, types, decoded, shown } of cases) {
      const found = tokenizer.encode(text, { pair, maxLength });
      expect({ text, pair, ids: found.ids }).toEqual({ text, pair, ids });
      if (types) expect(found.typeIds).toEqual(types);
      expect(tokenizer.decode(ids, { skipSpecialTokens: false, cleanUp: false })).toBe(decoded);
      expect(tokenizer.decode(ids, { cleanUp: false })).toBe(shown);
    }
  },
);
