import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { difference } from '../parity/difference.js';
import { describeWithDocker } from './support/engine.js';
import { docker } from './support/process.js';
import { REAL } from './support/zoo-hub.js';
import { openWorkshop, type Workshop } from './support/workshop.js';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** What sentence-transformers gives (scripts/fixtures/real_vectors.py). */
const REFERENCE = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../fixtures/real/minilm.json'), 'utf8'),
) as { texts: string[]; vectors: number[][] };

interface Spec {
  commit: string;
  graphs: Record<string, string>;
  written: { path: string; sha256: string }[];
}

describeWithDocker('repositories with PyTorch weights only', () => {
  let workshop: Workshop;
  beforeAll(async () => void (workshop = await openWorkshop()));
  afterAll(() => workshop.close());

  const buildFolder = (id: string) =>
    path.join(workshop.folder, 'images', workshop.namespace, id.replace('/', '_').toLowerCase());

  test('an image fetches the weights at its start and answers as the reference does', async () => {
    const { about, cases } = workshop.hub.models.weights;
    const image = await workshop.build(about.id);
    const container = await workshop.start(image, workshop.hub.flags);
    await container.ready();
    for (const { request, expect: wanted, compare } of cases) {
      const { envelope } = await container.run(request);
      expect(await difference(envelope.output, wanted, compare)).toBeNull();
    }
    await container.remove();
  });

  test('a sealed image proves itself', async () => {
    const { about } = workshop.hub.models.weights;
    const sealed = await workshop.snapshot(about.id);
    const { code, stdout, stderr } = await workshop.builder(['verify', sealed]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toMatch(/golden +the same bytes/);
  });

  test('the build folder has the graph that model.json carries, by its hash', async () => {
    const { about } = workshop.hub.models.weights;
    await workshop.build(about.id);
    const folder = buildFolder(about.id);
    const spec = JSON.parse(await readFile(path.join(folder, 'model.json'), 'utf8')) as Spec;
    expect(spec.graphs).toEqual({ model: 'graphs/model.onnx' });
    for (const graph of spec.written)
      expect(sha256(await readFile(path.join(folder, graph.path)))).toBe(graph.sha256);
  });

  const real = existsSync(REAL.dir) ? test : test.skip;

  real(
    'a real network: a plan moves kilobytes, and the image holds the hub’s own file',
    async () => {
      const before = workshop.hub.sentBytes();
      const { code, stderr } = await workshop.builder(['plan', REAL.id]);
      expect({ code, stderr }).toMatchObject({ code: 0 });
      // Tokenizer and weights are not read; headers and configurations are.
      expect(workshop.hub.sentBytes() - before).toBeLessThan(200_000);

      const image = await workshop.build(REAL.id, '--bake', '--task', 'feature-extraction');
      const container = await workshop.start(image);
      await container.ready();
      const { texts, vectors } = REFERENCE;
      for (const [i, text] of texts.entries()) {
        const { envelope } = await container.run({ text });
        const found = envelope.output as number[];
        expect(found).toHaveLength(vectors[i]!.length);
        const most = vectors[i]!.reduce((max, value, j) => Math.max(max, Math.abs(value - found[j]!)), 0);
        expect(most).toBeLessThan(1e-5);
      }
      const file = `/server/model/${REAL.id}/${workshop.hub.commitOf(REAL.id)}/model.safetensors`;
      const hash = await docker('exec', container.id, 'sha256sum', file);
      expect(hash.split(' ')[0]).toBe(sha256(readFileSync(path.join(REAL.dir, 'model.safetensors'))));
    },
    300_000,
  );

  real(
    'the same packed to eight bits: another file, a label that says how alike it computes, and nearly its vectors',
    async () => {
      const flags = ['--dtype', 'q8', '--task', 'feature-extraction'];
      const refused = await workshop.builder(['build', REAL.id, ...flags]);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--bake') as string });
      const image = await workshop.build(REAL.id, '--bake', ...flags);
      const format = '{{index .Config.Labels "io.slipway.likeness"}}';
      expect(Number(await docker('inspect', '--format', format, image))).toBeGreaterThan(0.99);
      const container = await workshop.start(image);
      await container.ready();
      const { envelope } = await container.run({ text: REFERENCE.texts[0] });
      // Both have the length 1.
      const cosine = (envelope.output as number[]).reduce(
        (sum, value, i) => sum + value * REFERENCE.vectors[0]![i]!,
        0,
      );
      expect(cosine).toBeGreaterThan(0.995);
      const folder = `/server/model/${REAL.id}/${workshop.hub.commitOf(REAL.id)}`;
      const files = await docker('exec', container.id, 'ls', folder);
      expect(files).toMatch(/slipway-q8-[0-9a-f]{12}\.bin/);
      expect(files).not.toContain('model.safetensors');
    },
    300_000,
  );
});
