import { join } from 'node:path';
import { readFileSync } from 'node:fs';

import {
  clipTokenizerJson,
  loadClipTokenizer,
} from '../../../../runtime/engines/tokenizers/clip-tokenizer.js';

const ZOO = join(import.meta.dirname, '../../../fixtures/zoo/text-to-image');
const BOTH = join(ZOO, 'sd-euler/repo/tokenizer');

test('vocab.json and merges.txt become the tokenizer.json that transformers writes', () => {
  const read = (name: string) => readFileSync(join(BOTH, name), 'utf8');
  const config = JSON.parse(read('tokenizer_config.json')) as Record<string, unknown>;
  const made = clipTokenizerJson(
    JSON.parse(read('vocab.json')) as Record<string, number>,
    read('merges.txt'),
    config,
  );
  const written = JSON.parse(read('tokenizer.json')) as typeof made;
  expect(made.added_tokens).toEqual(written.added_tokens);
  expect(made.normalizer).toEqual(written.normalizer);
  expect(made.pre_tokenizer).toEqual(written.pre_tokenizer);
  expect(made.post_processor).toEqual(written.post_processor);
  expect(made.decoder).toEqual(written.decoder);
  expect(written.model).toMatchObject(made.model);
});

test('a prompt beyond the limit keeps its end', async () => {
  const tokenizer = await loadClipTokenizer(join(ZOO, 'sd-ddim/repo/tokenizer'));
  const { ids } = tokenizer.encode('a photo of a cat '.repeat(40), { maxLength: tokenizer.modelMaxLength });
  expect(ids).toHaveLength(77);
  expect([ids[0], ids.at(-1)]).toEqual([628, 629]);
});

test('without a vocabulary it is refused', async () => {
  await expect(loadClipTokenizer(ZOO)).rejects.toThrow('the model has no vocab.json');
});
