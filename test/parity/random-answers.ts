import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal } from '../../builder/plan/index.js';
import { RunError } from '../../runtime/core/errors.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { difference } from './difference.js';
import { plannedModel, type ServedModel, serveInline } from './load.js';
import type { ZooModel } from './zoo.js';

/** Tests of models with random configurations (scripts/fixtures/random_answers.py): each answers as Python does or is refused by name. */
export function compareRandom(models: readonly ZooModel[]): void {
  test.each(models.map((model) => [`${model.task}/${model.name}`, model] as const))(
    '%s answers as Python does, or is refused',
    async (_, model) => {
      const changes = await readFile(join(model.dir, 'changes.json'), 'utf8');
      const served = await serve(model);
      if (!served) return;
      try {
        expect([changes, ...(await differences(served, model))]).toEqual([changes]);
      } finally {
        served.stop();
      }
    },
    60_000,
  );
}

/** Undefined where it is refused, by the plan or while it is loaded. */
async function serve(model: ZooModel): Promise<ServedModel | undefined> {
  const { task, about, repo, dir } = model;
  try {
    const { spec, dir: planned } = await plannedModel(task as TaskId, about.id, repo);
    return await serveInline(spec, planned);
  } catch (error) {
    if (!(error instanceof Refusal) && !(error instanceof RunError)) throw error;
    await writeFile(join(dir, 'refused.txt'), error.message);
    return undefined;
  }
}

/** Requests may be refused, too, with a status that says so. */
async function differences(served: ServedModel, { cases, dir }: ZooModel): Promise<string[]> {
  const found: string[] = [];
  for (const { name, request, expect: wanted, compare } of cases) {
    const { status, body } = await served.run(request);
    if (status >= 400 && status < 500) await writeFile(join(dir, 'refused.txt'), String(body.error));
    else if (status !== 200) found.push(`${name}: ${body.error}`);
    else {
      const problem = await difference(body.output, wanted, compare);
      if (problem !== null) found.push(`${name}: ${problem}`);
    }
  }
  return found;
}
