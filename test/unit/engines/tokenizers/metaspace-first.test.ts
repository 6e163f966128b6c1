import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Component, TokenizerJson } from '../../../../runtime/engines/tokenizers/tokenizer-json.js';
import { createTokenizer } from '../../../../runtime/engines/tokenizers/tokenizer.js';

interface Case {
  name: string;
  normalizer: Component | null;
  pre_tokenizer: Component;
  normalized: boolean;
  ids: number[][];
}

// scripts/fixtures/metaspace_first.py wrote this with tokenizers 0.22.2.
const { tokenizer, texts, cases } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../fixtures/metaspace-first.json'), 'utf8'),
) as { tokenizer: TokenizerJson; texts: string[]; cases: Case[] };

test.each(cases)('a sign only where the input begins: $name', ({ ids, normalized, ...parts }) => {
  const added_tokens = tokenizer.added_tokens.map((token) => ({
    ...{ ...token, normalized, special: !normalized },
  }));
  const json = { ...tokenizer, ...parts, added_tokens };
  const { encode } = createTokenizer({ json, config: {} });
  const found = texts.map((text) => ({ text, ids: encode(text).ids }));
  expect(found).toEqual(texts.map((text, i) => ({ text, ids: ids[i] })));
});
