import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadTokenizer } from '../../runtime/engines/tokenizers/tokenizer.js';
import { RunError } from '../../runtime/core/errors.js';

type Json = Record<string, unknown>;

interface Text {
  text: string;
  ids: number[];
  /** Without special tokens. */
  plain: number[];
  decoded: string;
  /** Without special tokens. */
  skipped: string;
  error?: string;
}

/** What Python makes of a tokenizer of the fixtures with changed settings (scripts/fixtures/random_tokenizers.py). */
interface Row {
  source: string;
  change: Json;
  gone: string[];
  version: string;
  error?: string;
  limit?: number | null;
  rows?: Text[];
  pair?: { ids?: number[]; error?: string };
}

const FIXTURES = join(import.meta.dirname, '../fixtures');
const FILE = process.env['RANDOM_TOKENIZERS'] ?? join(FIXTURES, 'tokenizer-settings.json');
const ROWS = JSON.parse(readFileSync(FILE, 'utf8')) as Row[];
/** Their tests are elsewhere, and they are large. */
const NOT_OF_TOKENIZERS = /safetensors|\.bin$|\.onnx|\.gguf$/;

async function changed({ source, change, gone }: Row): Promise<string> {
  const [from, to] = [join(FIXTURES, source), await mkdtemp(join(tmpdir(), 'slipway-tokenizer-'))];
  const files = readdirSync(from, { withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map(({ name }) => name).filter((name) => !NOT_OF_TOKENIZERS.test(name));
  await Promise.all(names.map((name) => cp(join(from, name), join(to, name))));
  const config = JSON.parse(await readFile(join(from, 'tokenizer_config.json'), 'utf8')) as Json;
  const left = Object.entries({ ...config, ...change }).filter(([name]) => !gone.includes(name));
  await writeFile(join(to, 'tokenizer_config.json'), JSON.stringify(Object.fromEntries(left)));
  return to;
}

test.each(
  ROWS.map((row, i) => [`${i} ${row.source} ${JSON.stringify({ ...row.change, gone: row.gone })}`, row]),
)('%s', async (_, row) => {
  const opened = await loadTokenizer(await changed(row)).catch((error: unknown) => {
    if (error instanceof RunError && row.error !== undefined) return undefined;
    throw error;
  });
  // What Python fails on may be read here.
  if (!opened || row.error !== undefined) return;
  for (const { text, error, ...expected } of row.rows!) {
    if (error !== undefined) continue;
    const { ids } = opened.encode(text, { truncation: 'do_not_truncate' });
    expect({
      ids,
      plain: opened.encode(text, { truncation: 'do_not_truncate', specialTokens: false }).ids,
      decoded: opened.decode(ids, { skipSpecialTokens: false }),
      skipped: opened.decode(ids, { skipSpecialTokens: true }),
    }).toEqual(expected);
  }
  const { pair } = row;
  if (pair?.ids) {
    const cut = { truncation: 'longest_first', maxLength: 9 } as const;
    expect(opened.encode(row.rows![0]!.text, { pair: 'a river', ...cut }).ids).toEqual(pair.ids);
  }
  expect(opened.modelMaxLength ?? null).toBe(row.limit);
});
