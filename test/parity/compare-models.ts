import { rm } from 'node:fs/promises';
import { z } from 'zod';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { outputSchema } from '../../runtime/openapi.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { plannedModel, type ServedModel, serveInline } from './load.js';
import { missingFor } from './ffmpeg.js';
import { difference } from './difference.js';
import { type ZooModel, zooModels } from './zoo.js';

/** Tests of every second model, from `first` on: in two files, since a file keeps one core busy. */
export async function compareEverySecond(first: 0 | 1): Promise<void> {
  compareModels((await zooModels()).filter((_, i) => i % 2 === first));
}

/** Tests of these models, alone and all cases at once. */
export function compareModels(models: readonly ZooModel[]): void {
  for (const model of models) {
    const missing = missingFor(model.task);
    const suite = missing === undefined ? describe : describe.skip;
    suite(
      `${model.task}: ${model.about.id} answers as the Python library does${missing ? ` (skipped: ${missing})` : ''}`,
      () => {
        const published = z.fromJSONSchema(outputSchema(taskOf(model.task as TaskId)));
        let planned: Awaited<ReturnType<typeof plannedModel>>;
        let served: ServedModel;
        beforeAll(async () => {
          planned = await plannedModel(model.task as TaskId, model.about.id, model.repo);
          served = await serveInline(planned.spec, planned.dir);
        });
        afterAll(async () => {
          served.stop();
          await rm(planned.dir, { recursive: true });
        });

        test.each(model.cases)('$name: $why', async (zooCase) => {
          const { status, body } = await served.run(zooCase.request);
          if (zooCase.expect_error) {
            expect(status).toBeGreaterThanOrEqual(400);
            expect(status).toBeLessThan(500);
            expect(body).toEqual({ error: expect.any(String), output: null });
          } else {
            expect(body.error).toBeNull();
            expect(published.safeParse(body.output).error).toBeUndefined();
            expect(await difference(body.output, zooCase.expect, zooCase.compare)).toBeNull();
          }
        });

        test('the same when all of them run at once, four times over', async () => {
          const cases = model.cases.filter((zooCase) => !zooCase.expect_error);
          const crowd = Array.from({ length: 4 }, () => cases).flat();
          const found = await Promise.all(
            crowd.map(async ({ request, expect: wanted, compare }) => {
              const { body } = await served.run(request);
              if (body.error) return body.error;
              return difference(body.output, wanted, compare);
            }),
          );
          expect(found.filter((problem) => problem !== null)).toEqual([]);
        }, 180_000);
      },
    );
  }
}
