import { z } from 'zod';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { outputSchema } from '../../runtime/openapi.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { fixtureSpec, type ServedModel, serveInline } from './load.js';
import { difference, zooModels } from './zoo.js';

for (const model of await zooModels()) {
  describe(`${model.task}: ${model.about.id} answers as the Python library does`, () => {
    const published = z.fromJSONSchema(outputSchema(taskOf(model.task as TaskId)));
    let served: ServedModel;
    beforeAll(async () => {
      served = await serveInline(fixtureSpec(model.task as TaskId, model.about.id, model.repo), model.repo);
    });
    afterAll(() => served.stop());

    test.each(model.cases)('$name: $why', async (zooCase) => {
      const { status, body } = await served.run(zooCase.request);
      if (zooCase.expect_error) {
        expect(status).toBeGreaterThanOrEqual(400);
        expect(status).toBeLessThan(500);
        expect(body).toEqual({ error: expect.any(String), output: null });
      } else {
        expect(body.error).toBeNull();
        expect(published.safeParse(body.output).error).toBeUndefined();
        expect(difference(body.output, zooCase.expect, zooCase.compare)).toBeNull();
      }
    });

    test('the same when all of them run at once, four times over', async () => {
      const cases = model.cases.filter((zooCase) => !zooCase.expect_error);
      const crowd = Array.from({ length: 4 }, () => cases).flat();
      const found = await Promise.all(
        crowd.map(async ({ request, expect: wanted, compare }) => {
          const { body } = await served.run(request);
          return difference(body.output, wanted, compare);
        }),
      );
      expect(found.filter((problem) => problem !== null)).toEqual([]);
    }, 60_000);
  });
}
