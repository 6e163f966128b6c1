import { readFile, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { plannedModel, type ServedModel, serveInline } from './load.js';
import { difference } from './difference.js';
import { zooModels } from './zoo.js';

/** Contract: features of a repository with modules of sentence-transformers are what encode() gives. */
const models = (await zooModels()).filter(
  ({ task, repo }) => task === 'sentence-similarity' && existsSync(join(repo, 'modules.json')),
);

describe.each(models)('feature-extraction of $about.id', ({ about, repo, cases }) => {
  const plain = cases.filter(
    ({ request, expect_error }) => Object.keys(request['params'] ?? {}).length === 0 && !expect_error,
  );
  let planned: Awaited<ReturnType<typeof plannedModel>>;
  let served: ServedModel;
  beforeAll(async () => {
    planned = await plannedModel('feature-extraction', about.id, repo);
    served = await serveInline(planned.spec, planned.dir);
  });
  afterAll(async () => {
    served.stop();
    await rm(planned.dir, { recursive: true });
  });

  test('has cases without parameters', () => expect(plain.length).toBeGreaterThan(0));

  test.each(plain)('$name: $why', async ({ request, expect: wanted, compare }) => {
    const { body } = await served.run(request);
    expect(body.error).toBeNull();
    expect(await difference(body.output, wanted, compare)).toBeNull();
  });

  test('truncation: false refuses what is too long, and changes nothing else', async () => {
    const { body: short } = await served.run({ text: 'a', params: { truncation: false } });
    expect(short).toEqual((await served.run({ text: 'a' })).body);
    expect(short.error).toBeNull();
    const long = { text: 'word '.repeat(20_000) };
    const refused = await served.run({ ...long, params: { truncation: false } });
    const { error } = refused.body;
    // Static embeddings take texts of any length.
    if (refused.status !== 200)
      expect([refused.status, error]).toEqual([
        422,
        expect.stringMatching(/longer than the model takes, \d+ tokens/),
      ]);
    const given = await served.run({ ...long, params: { tokenize_kwargs: { truncation: false } } });
    expect(given.status).toBe(refused.status);
    expect((await served.run(long)).status).toBe(200);
  });

  test('truncate_dim keeps the first numbers', async () => {
    const [{ request, expect: wanted, compare }] = plain as [(typeof plain)[number]];
    const { body } = await served.run({ ...request, params: { truncate_dim: 3 } });
    expect(await difference(body.output, (wanted as number[]).slice(0, 3), compare)).toBeNull();
  });

  test('dimensions does so, too, and the rest has length 1 again where Normalize is the last module', async () => {
    const [{ request, expect: wanted, compare }] = plain as [(typeof plain)[number]];
    const { body } = await served.run({ ...request, params: { dimensions: 3 } });
    const modules = JSON.parse(await readFile(join(repo, 'modules.json'), 'utf8')) as { type: string }[];
    const kept = (wanted as number[]).slice(0, 3);
    const length = modules.at(-1)!.type.endsWith('Normalize') ? Math.hypot(...kept) : 1;
    expect(
      await difference(
        body.output,
        kept.map((value) => value / length),
        compare,
      ),
    ).toBeNull();
    const both = await served.run({ ...request, params: { dimensions: 3, truncate_dim: 3 } });
    expect([both.status, both.body.error]).toEqual([400, 'params.dimensions: give it or truncate_dim']);
  });

  test('all dimensions are the vector itself', async () => {
    const [{ request, expect: wanted }] = plain as [(typeof plain)[number]];
    const { body } = await served.run({ ...request, params: { dimensions: (wanted as number[]).length } });
    expect(body.output).toEqual((await served.run(request)).body.output);
  });
});
