import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { plannedModel, type ServedModel, serveInline } from './load.js';

const FIXTURES = join(import.meta.dirname, '..', 'fixtures');

/** Of torch, transformers and its tokenizers (scripts/fixtures/text_vectors.py). */
const REFERENCE = JSON.parse(readFileSync(join(FIXTURES, 'text-vectors.json'), 'utf8')) as {
  texts: string[];
  sparse: Record<string, Record<string, [index: number, value: number][]>[]>;
  states: Record<string, number[][][]>;
  tokens: Record<string, [id: number, special: boolean, start: number | null, stop: number | null][][]>;
};
const { texts } = REFERENCE;

type SparseVector = readonly [index: number, value: number][];

/** Of sentence-transformers (scripts/fixtures/sparse_prompts.py). */
const PROMPTED = JSON.parse(readFileSync(join(FIXTURES, 'sparse-prompts.json'), 'utf8')) as {
  name: string;
  files: Record<string, object>;
  vectors: { text: string; prompt_name: string | null; vector: SparseVector }[];
};

const folders: string[] = [];
const servers: ServedModel[] = [];
afterEach(async () => {
  for (const served of servers.splice(0)) served.stop();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** A model of the fixtures; `add` changes a copy of its repository first. */
async function serve(name: string, add?: (repo: string) => Promise<void>): Promise<ServedModel> {
  const task = name.split('/')[0] as TaskId;
  let repo = join(FIXTURES, 'zoo-weights', name, 'repo');
  if (add) {
    const copy = await mkdtemp(join(tmpdir(), 'vectors-'));
    folders.push(copy);
    await cp(repo, copy, { recursive: true });
    await add(copy);
    repo = copy;
  }
  const { spec, dir } = await plannedModel(task, 'zoo/model', repo);
  folders.push(dir);
  const served = await serveInline(spec, dir);
  servers.push(served);
  return served;
}

const post = async (served: ServedModel, path: string, body: object) => {
  const answer = await request(served.app).post(path).send(body);
  return { status: answer.status, body: answer.body as unknown };
};

const asSplade = (how: string) => async (repo: string) => {
  const [pooling_strategy, activation_function] = how.split('/');
  const module = (idx: number, path: string, type: string) => ({ idx, name: `${idx}`, path, type });
  const kind = (name: string) => `sentence_transformers.sparse_encoder.models.${name}`;
  const modules = [
    module(0, '', kind('MLMTransformer')),
    module(1, '1_SpladePooling', kind('SpladePooling')),
  ];
  await mkdir(join(repo, '1_SpladePooling'));
  await writeFile(join(repo, 'modules.json'), JSON.stringify(modules));
  await writeFile(
    join(repo, '1_SpladePooling/config.json'),
    JSON.stringify({ pooling_strategy, activation_function, word_embedding_dimension: null }),
  );
};

/** Scores next to 0 may be on either side of it. */
function expectSparse(found: readonly { index: number; value: number }[], expected: SparseVector): void {
  const values = new Map(found.map(({ index, value }) => [index, value]));
  const sure = expected.filter(([, value]) => value > 1e-4);
  expect(sure.length).toBeGreaterThan(0);
  for (const [index, value] of sure) expect(values.get(index)).toBeCloseTo(value, 3);
  const told = new Set(expected.map(([index]) => index));
  for (const { index, value } of found) if (value > 1e-3) expect(told).toContain(index);
}

test('sparse vectors behind prompts are those of sentence-transformers', async () => {
  const served = await serve(PROMPTED.name, async (repo) => {
    for (const [path, content] of Object.entries(PROMPTED.files)) {
      await mkdir(join(repo, path, '..'), { recursive: true });
      await writeFile(join(repo, path), JSON.stringify(content));
    }
  });
  for (const { text, prompt_name, vector } of PROMPTED.vectors) {
    const { status, body } = await post(served, '/embed_sparse', { inputs: text, prompt_name });
    expect(status).toBe(200);
    expectSparse((body as Parameters<typeof expectSparse>[0][])[0]!, vector);
  }
  const other = await post(served, '/embed_sparse', { inputs: 'a', prompt_name: 'other' });
  expect([other.status, other.body]).toEqual([
    422,
    expect.objectContaining({
      error: 'prompt_name: this model has no prompt "other" (it has: query, document, passage)',
    }),
  ]);
});

describe.each(Object.entries(REFERENCE.sparse))('%s', (name, expected) => {
  test.each(Object.keys(expected[0]!))('sparse vectors by %s are those of torch', async (how) => {
    const { status, body } = await post(await serve(name, asSplade(how)), '/embed_sparse', { inputs: texts });
    expect(status).toBe(200);
    const found = body as { index: number; value: number }[][];
    found.forEach((vector, i) => expectSparse(vector, expected[i]![how]!));
  });

  test('a repository without SpladePooling says so', async () => {
    const { status, body } = await post(await serve(name), '/embed_sparse', { inputs: 'a' });
    expect([status, body]).toEqual([
      422,
      { error: expect.stringMatching(/SpladePooling/), error_type: 'validation' },
    ]);
  });

  test('tokens and their bytes are those of the library', async () => {
    const served = await serve(name);
    const { body } = await post(served, '/tokenize', { inputs: texts });
    const found = body as { id: number; special: boolean; start: number | null; stop: number | null }[][];
    expect(found.map((row) => row.map(({ id, special, start, stop }) => [id, special, start, stop]))).toEqual(
      REFERENCE.tokens[name],
    );
    const whole = await post(served, '/tokenize', { prompt: texts[0] });
    expect(whole.body).toMatchObject({ count: found[0]!.length, tokens: found[0]!.map(({ id }) => id) });
    const ids = found[0]!.map(({ id }) => id);
    const decoded = await post(served, '/decode', { ids });
    const plain = await post(served, '/detokenize', { tokens: ids });
    expect((decoded.body as string[])[0]).not.toContain('[CLS]');
    expect((plain.body as { prompt: string }).prompt).toContain('[CLS]');
    expect((await post(served, '/decode', { ids: [10 ** 6] })).status).toBe(400);
  });
});

test.each(Object.entries(REFERENCE.states))(
  '%s: vectors of tokens are those of torch',
  async (name, expected) => {
    const { status, body } = await post(await serve(name), '/embed_all', { inputs: texts });
    expect(status).toBe(200);
    (body as number[][][]).forEach((rows, i) => {
      expect(rows).toHaveLength(expected[i]!.length);
      rows.forEach((row, at) =>
        row.forEach((value, place) => expect(value).toBeCloseTo(expected[i]![at]![place]!, 3)),
      );
    });
  },
);
