import { httpTransport } from '../../builder/conformance/http-transport.js';
import { runChecks } from '../../builder/conformance/run-checks.js';
import { TASK_IDS, type TaskId } from '../../runtime/core/task-ids.js';
import { createByteBudget } from '../../runtime/wire/byte-budget.js';
import { VERSION } from '../../runtime/version.js';
import { openApiOf } from '../../runtime/boot/openapi.js';
import { servePage } from '../browser/support/page-server.js';
import { zooModel, zooPlaces } from './zoo.js';

/** One model that streams and one of images in each run; CONFORMANCE=all takes minutes. */
const SOME: readonly TaskId[] = ['chat', 'image-classification'];
const tasks = process.env['CONFORMANCE'] === 'all' ? TASK_IDS : SOME;

test.each(tasks)(
  'a real model of %s passes every check of "builder test"',
  async (task) => {
    const place = (await zooPlaces()).find((each) => each.task === task)!;
    const model = await zooModel(task, place.name, place.root);
    const about = { id: model.about.id, task, commit: '0'.repeat(40) };
    const server = await servePage(model, {
      openapi: () => openApiOf(about, VERSION),
      body: { maxBytes: 2 ** 26, setting: 'MAX_BODY_BYTES', budget: createByteBudget(2 ** 30) },
    });
    try {
      const options = { headers: {}, say: () => undefined };
      const { results } = await runChecks(httpTransport(server.address), options);
      expect(results.filter(({ passed }) => !passed)).toEqual([]);
      expect(results.length).toBeGreaterThan(30);
    } finally {
      await server.close();
    }
  },
  300_000,
);
