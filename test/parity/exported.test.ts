import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { keptExport, summaryOf } from '../../builder/export/make-export.js';
import { difference } from './difference.js';
import { type PlannedExport, plannedExport, withGraph } from './exported.js';
import { type ServedModel, serveInline } from './load.js';
import { EXPORTED, zooModels } from './zoo.js';

/** Graphs that the exporter made once (scripts/fixtures/README.md): what is planned now would make the same ones. */
describe.each(await zooModels([EXPORTED]))('$task: $name, an exported graph', (model) => {
  let planned: PlannedExport;
  let served: ServedModel;
  beforeAll(async () => {
    planned = await plannedExport(model);
    const exported = await keptExport(model.dir, planned.toExport);
    if (!exported)
      throw new Error('the fixture is of another recipe: make it again, scripts/fixtures/README.md');
    const { spec, dir } = await withGraph(planned, exported, model.dir);
    served = await serveInline(spec, dir);
  });
  afterAll(async () => {
    served.stop();
    await rm(planned.dir, { recursive: true });
  });

  test('keeps its weights in the checkpoint', async () => {
    const { shares } = summaryOf((await keptExport(join(model.dir), planned.toExport))!);
    expect(shares.copied).toBeLessThan(0.15 * (shares.inPlace + shares.transposed));
  });

  test.each(model.cases)('$name: answers as Python does', async ({ request, expect: wanted, compare }) => {
    const { body } = await served.run(request);
    expect(body.error).toBeNull();
    expect(await difference(body.output, wanted, compare)).toBeNull();
  });

  test('the same when all of them run at once', async () => {
    const cases = [...model.cases, ...model.cases];
    const answers = await Promise.all(cases.map(({ request }) => served.run(request)));
    for (const [i, { expect: wanted, compare }] of cases.entries())
      expect(await difference(answers[i]!.body.output, wanted, compare)).toBeNull();
  });
});
