import { TASK_IDS } from '../../runtime/core/task-ids.js';
import { rm } from 'node:fs/promises';
import sharp from 'sharp';
import { z } from 'zod';
import { outputSchema } from '../../runtime/tasks/json-schema.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { plannedModel, type ServedModel, serveInline } from './load.js';
import { zooModels } from './zoo.js';

/** Width and height. */
const SIZES = [
  [1, 1],
  [1, 40],
  [40, 1],
  [2, 2],
  [3, 50],
  [50, 3],
  [7, 600],
  [1500, 50],
  [31, 33],
] as const;

const image = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 40, b: 90 } } })
    .png()
    .toBuffer();

const models = (await zooModels()).filter(({ task }) =>
  TASK_IDS.some((id) => id === task && taskOf(id).profile === 'vision'),
);

describe.each(models.map((model) => [`${model.task}: ${model.about.id}`, model] as const))(
  '%s',
  (_, model) => {
    const task = model.task as (typeof TASK_IDS)[number];
    const published = z.fromJSONSchema(outputSchema(taskOf(task)));
    let planned: Awaited<ReturnType<typeof plannedModel>>;
    let served: ServedModel;
    beforeAll(async () => {
      planned = await plannedModel(task, model.about.id, model.repo);
      served = await serveInline(planned.spec, planned.dir);
    });
    afterAll(async () => {
      served.stop();
      await rm(planned.dir, { recursive: true });
    });

    test.each(SIZES)('an image of %i x %i is answered, or refused with a reason', async (width, height) => {
      const base64 = (await image(width, height)).toString('base64');
      const { request } = model.cases.find(({ expect_error }) => !expect_error)!;
      const { status, body } = await served.run(withImage(request, base64));
      if (status === 200) expect(published.safeParse(body.output).error).toBeUndefined();
      else
        expect({ status, error: body.error }).toEqual({
          status: 422,
          error: expect.stringMatching(/image/),
        });
    });
  },
);

/** The same request about another image. */
function withImage(request: Record<string, unknown>, base64: string): Record<string, unknown> {
  const replaced = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(replaced);
    const entries = Object.entries(value).map(([key, item]) => [
      key,
      key === 'base64' ? base64 : replaced(item),
    ]);
    return Object.fromEntries(entries);
  };
  return replaced(request) as Record<string, unknown>;
}
