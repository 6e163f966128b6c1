import type { Request, RequestHandler } from 'express';
import { RunError } from '../../runtime/core/errors.js';
import { isTaskId, TASK_IDS } from '../../runtime/core/task-ids.js';
import { sendEnvelope } from '../../runtime/wire/respond.js';
import type { Catalog } from '../catalog/entry.js';
import { meterOf, type Tier } from '../meters.js';

/** GET list/models: rows of the catalogue, filtered by task and id. */
export function listModels(catalog: Catalog, tiers: readonly Tier[]): RequestHandler {
  return (request, response) => {
    const { task, modelId } = filtersOf(request);
    const rows = catalog
      .list()
      .filter(
        (entry) =>
          (task === undefined || entry.task === task) && (modelId === undefined || entry.modelId === modelId),
      )
      .map((entry) => {
        const { meter, meterPrice } = meterOf(entry, tiers);
        const { params, ramRequired } = entry;
        return { meter, meterPrice, modelId: entry.modelId, params, ramRequired, task: entry.task };
      });
    sendEnvelope(response, 200, { error: null, output: rows });
  };
}

/** GET list/tasks: the names of all tasks of the interface. */
export const listTasks: RequestHandler = (_request, response) => {
  sendEnvelope(response, 200, { error: null, output: TASK_IDS });
};

/** Some clients put a second question mark between filters, so both `?` and `&` separate them. */
function filtersOf(request: Request): { task?: string | undefined; modelId?: string | undefined } {
  const query = request.originalUrl.split('?').slice(1).join('&');
  const values = new URLSearchParams(query);
  const task = values.get('task') || undefined;
  if (task !== undefined && !isTaskId(task))
    throw new RunError('invalid_input', 'task: is none of the tasks; list/tasks names them');
  return { task, modelId: values.get('modelId') || undefined };
}
