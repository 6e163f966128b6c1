import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answerOpenedTokenizer } from '../../../../runtime/engines/llama/opened-models.js';
import { loadLlamaReranker } from '../../../../runtime/engines/llama/reranker.js';
import { loadLlamaTextEmbedder } from '../../../../runtime/engines/llama/text-embedder.js';
import { convertToGguf } from '../../../fakes/gguf/convert.js';
import { ggufRequest } from './support.js';

const REPO = join(import.meta.dirname, '../../../fixtures/zoo-weights/chat/qwen2-f16-2shards/repo');
const TEXTS = ['the quiet river', 'a harbour', 'many more words that flow to the sea at night'];

const length = (vector: Float32Array) => Math.hypot(...vector);

const openWith = (pooling: number) =>
  loadLlamaTextEmbedder(
    ggufRequest(convertToGguf(REPO, 'F32', { 'qwen2.pooling_type': pooling }), {
      task: 'feature-extraction',
    }),
  );

test('vectors are pooled as the file says, scaled to length 1, and the same in company', async () => {
  const embedder = await openWith(1);
  const alone: Float32Array[] = [];
  for (const text of TEXTS) alone.push(await embedder.embed(text));
  const together = await Promise.all(TEXTS.map((text) => embedder.embed(text)));
  for (const [i, vector] of together.entries()) {
    expect(length(vector)).toBeCloseTo(1, 5);
    vector.forEach((value, at) => expect(value).toBeCloseTo(alone[i]![at]!, 5));
  }
});

test('the mean is that of the states, the last is the last one', async () => {
  const [mean, last] = [await openWith(1), await openWith(3)];
  const { values, tokens, width } = await mean.states(TEXTS[0]!);
  const of = (i: number) => values.subarray(i * width, (i + 1) * width);
  const found = await mean.embed(TEXTS[0]!, { normalize: false });
  found.forEach((value, at) => {
    const sum = Array.from({ length: tokens }, (_, i) => of(i)[at]!).reduce((a, b) => a + b, 0);
    expect(value).toBeCloseTo(sum / tokens, 4);
  });
  const end = await last.encode(TEXTS[0]!, { normalize: false });
  end.forEach((value, at) => expect(value).toBeCloseTo(of(tokens - 1)[at]!, 4));
  const asked = await mean.embed(TEXTS[0]!, { pooling: 'lasttoken' });
  asked.forEach((value, at) => expect(value).toBeCloseTo(of(tokens - 1)[at]!, 4));
});

test('a BERT gives the vectors that transformers gives', async () => {
  const bert = join(
    import.meta.dirname,
    '../../../fixtures/zoo-weights/feature-extraction/bert-noprefix-f16',
  );
  const more = { 'bert.attention.causal': false, 'bert.pooling_type': 1 };
  const file = convertToGguf(join(bert, 'repo'), 'F32', more);
  const embedder = await loadLlamaTextEmbedder(ggufRequest(file, { task: 'feature-extraction' }));
  const cases = JSON.parse(readFileSync(join(bert, 'cases.json'), 'utf8')) as {
    request: { text: string };
    expect: number[];
  }[];
  const found = await Promise.all(
    cases.map(({ request: { text } }) => embedder.embed(text, { normalize: false })),
  );
  for (const [i, { expect: wanted }] of cases.entries())
    // GELU is looked up in a table of 16 bits.
    found[i]!.forEach((value, at) => expect(Math.abs(value - wanted[at]!)).toBeLessThan(5e-3));
});

test('what llama.cpp does not pool is refused by name', async () => {
  const embedder = await openWith(1);
  await expect(embedder.embed('a', { pooling: 'max' })).rejects.toThrow(/params\.pooling: .* not max/);
  await expect(embedder.encode('a', { promptName: 'query' })).rejects.toThrow(/params\.prompt_name/);
});

test('prompts that stand beside the file are put before texts', async () => {
  const request = ggufRequest(convertToGguf(REPO, 'F32', { 'qwen2.pooling_type': 1 }), {
    task: 'feature-extraction',
  });
  const settings = { prompts: { query: 'find: ' }, default_prompt_name: 'query' };
  writeFileSync(join(request.dir, 'config_sentence_transformers.json'), JSON.stringify(settings));
  const embedder = await loadLlamaTextEmbedder(request);
  const plain = await openWith(1);
  const behind = await plain.embed('find: a harbour');
  const bare = await plain.embed('a harbour');
  for (const [found, wanted] of [
    [await embedder.embed('a harbour'), behind],
    [await embedder.encode('a harbour'), behind],
    [await embedder.encode('a harbour', { promptName: 'query' }), behind],
    [await embedder.encode('a harbour', { promptName: 'document' }), bare],
    [await embedder.encode('a harbour', { prompt: '' }), bare],
    [await embedder.embed('a harbour', { pooling: 'mean', normalize: true }), bare],
  ] as const)
    found.forEach((value, at) => expect(value).toBeCloseTo(wanted[at]!, 4));
  expect((await embedder.states('a harbour')).tokens).toBe((await plain.states('find: a harbour')).tokens);
  await expect(embedder.encode('a', { promptName: 'other' })).rejects.toThrow(/no prompt "other"/);
  const answer = await answerOpenedTokenizer(request.dir)(
    { encode: ['a harbour'], prompt_name: 'query' },
    new AbortController().signal,
  );
  const { tokens } = await plain.states('find: a harbour');
  expect('tokens' in answer && answer.tokens[0]!.length).toBe(tokens);
});

test('a file without a head that scores is refused as a reranker', async () => {
  const request = ggufRequest(convertToGguf(REPO, 'F32'), { task: 'text-classification' });
  await expect(loadLlamaReranker(request)).rejects.toMatchObject({
    code: 'not_ready',
    message: expect.stringContaining('cls.weight'),
  });
});
