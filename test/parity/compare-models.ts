import { rm } from 'node:fs/promises';
import { z } from 'zod';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { outputSchema } from '../../runtime/tasks/json-schema.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { plannedModel, type ServedModel, serveInline } from './load.js';
import { missingFor } from './ffmpeg.js';
import { difference } from './difference.js';
import { oneForEachHead } from './heads.js';
import { ALL_ROOTS, modelAt, type ZooModel, zooPlaces } from './zoo.js';

/** Files of the comparison: enough that no core waits for the last of them, few enough that loading the code is cheap. */
const SHARES = 6;

/** Two of each case are enough to meet in a run; four also wait for one another. */
const COPIES = 2;
const COPIES_FOR_HEADS = 4;

const forHeads = oneForEachHead(await zooPlaces(ALL_ROOTS));

/** Tests of the models in this share, from 1 to SHARES. Tasks and sizes are mixed, so that each takes as long. */
export async function compareShare(share: number): Promise<void> {
  const places = (await zooPlaces()).filter((_, i) => i % SHARES === share - 1);
  compareModels(await Promise.all(places.map(modelAt)));
}

/** Tests of one model for each head; every second one of them, from the first or the second on. */
export async function compareHeads(first: 1 | 2): Promise<void> {
  const places = (await zooPlaces(ALL_ROOTS)).filter(({ dir }) => forHeads.has(dir));
  compareModels(await Promise.all(places.filter((_, i) => i % 2 === first - 1).map(modelAt)));
}

const planned = ({ task, about, repo }: ZooModel) => plannedModel(task as TaskId, about.id, repo);

/** Tests of these models, alone and all cases at once. @param prepare what an image of a model holds */
export function compareModels(models: readonly ZooModel[], prepare: typeof planned = planned): void {
  for (const model of models) {
    const missing = missingFor(model.task);
    const suite = missing === undefined ? describe : describe.skip;
    suite(
      `${model.task}: ${model.about.id} answers as the Python library does${missing ? ` (skipped: ${missing})` : ''}`,
      () => {
        const published = z.fromJSONSchema(outputSchema(taskOf(model.task as TaskId)));
        let prepared: Awaited<ReturnType<typeof prepare>>;
        let served: ServedModel;
        beforeAll(async () => {
          prepared = await prepare(model);
          served = await serveInline(prepared.spec, prepared.dir);
        });
        afterAll(async () => {
          served.stop();
          await rm(prepared.dir, { recursive: true });
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

        const copies = forHeads.has(model.dir) ? COPIES_FOR_HEADS : COPIES;
        test(`the same when all of them run at once, ${copies} times over`, async () => {
          const cases = model.cases.filter((zooCase) => !zooCase.expect_error);
          const crowd = Array.from({ length: copies }, () => cases).flat();
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
