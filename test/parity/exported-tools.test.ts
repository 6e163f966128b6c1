import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeExport, summaryOf } from '../../builder/export/make-export.js';
import { difference } from './difference.js';
import { plannedExport, ROOT, withGraph } from './exported.js';
import { serveInline } from './load.js';
import { modelAt, zooPlaces } from './zoo.js';

/** A Python with the pinned tools; without one nothing here runs. */
const python = process.env['SLIPWAY_EXPORT_PYTHON'];
const names = (process.env['EXPORT_TYPES'] ?? '').split(',').filter(Boolean);
const made = process.env['EXPORT_ZOO'] ?? join(ROOT, '.cache/zoo-exported');

const MINUTES = 60_000;
const suite = python ? describe : describe.skip;

function makeRepositories(): void {
  if (existsSync(made)) return;
  execFileSync(python!, ['scripts/fixtures/zoo_exported.py', made, ...names], { cwd: ROOT, stdio: 'ignore' });
}

if (python) makeRepositories();
const places = python ? await zooPlaces([made]) : [];

suite(`exports answer as Python does${python ? '' : ' (skipped: SLIPWAY_EXPORT_PYTHON is not set)'}`, () => {
  test('there are repositories to export', () => expect(places.length).toBeGreaterThan(0));

  const chosen = places.filter(({ name }) => names.length === 0 || names.includes(name));
  test.each(chosen)(
    '$task: $name',
    async (place) => {
      const model = await modelAt(place);
      const planned = await plannedExport(model);
      const folder = await mkdtemp(join(tmpdir(), 'export-folder-'));
      const exported = await makeExport({
        ...{
          id: model.about.id,
          toExport: planned.toExport,
          folder,
          checkpoint: planned.dir,
          python: python!,
        },
        ...{ packageRoot: ROOT, threads: availableParallelism(), onStep: () => undefined },
        async besideRest(rest) {
          await copyFile(join(folder, rest.path), join(planned.dir, rest.path));
          return planned.dir;
        },
      });
      console.log(
        `EXPORT ${place.name} ${JSON.stringify({ ...summaryOf(exported), graphs: exported.map(({ written }) => written.size) })}`,
      );
      if (process.env['KEEP_EXPORTS']) await cp(folder, place.dir, { recursive: true });
      const { spec, dir } = await withGraph(planned, exported, folder);
      const served = await serveInline(spec, dir);
      try {
        const answers = await Promise.all(model.cases.map(({ request }) => served.run(request)));
        for (const [i, { expect: wanted, compare }] of model.cases.entries()) {
          const { body } = answers[i]!;
          expect(body.error).toBeNull();
          expect(await difference(body.output, wanted, compare)).toBeNull();
        }
      } finally {
        served.stop();
        await rm(dir, { recursive: true });
        await rm(folder, { recursive: true });
      }
    },
    15 * MINUTES,
  );
});
