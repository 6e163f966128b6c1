import { Router, type Request, type RequestHandler, type Response } from 'express';
import * as z from 'zod';
import { RunError } from '../../runtime/core/errors.js';
import { isModelId } from '../../runtime/core/ids.js';
import { isTaskId } from '../../runtime/core/task-ids.js';
import { createByteBudget } from '../../runtime/wire/byte-budget.js';
import { readJsonBody } from '../../runtime/wire/json-body.js';
import { sendEnvelope } from '../../runtime/wire/respond.js';
import type { ReportedRun } from '../usage/reported.js';
import { callContext } from './call-context.js';
import { allowOnly } from './allow-only.js';

export interface ContainerParts {
  /** Requires a key, with rate limits of its own. */
  authorized: RequestHandler;
  /** Counts runs that the containers of a key report. @param runs at most 1000 */
  report(keyId: string, runs: readonly ReportedRun[]): void;
  /** The newest version of Slipway, which containers compare with their own. */
  version: string;
}

/** Enough for 1000 events with the longest ids. */
const MAX_BYTES = 2 ** 19;

const run = z.object({
  model: z.string().max(200).refine(isModelId),
  task: z.string().refine(isTaskId),
  status: z.int().min(100).max(599),
  milliseconds: z.number().min(0).max(86_400_000),
});

/** Unknown fields are dropped, so a request body or key that a modified server might send is never kept. */
const report = z.object({ events: z.array(run).max(1000) });

/** Routes that containers call with their KEY: validate it, report runs, ask for the newest version. */
export function containerRoutes({ authorized, report: count, version }: ContainerParts): Router {
  const budget = createByteBudget(32 * MAX_BYTES);
  const readJson = async (request: Request, response: Response) =>
    (await readJsonBody(request, response, { maxBytes: MAX_BYTES, budget })).json;
  const router = Router({ caseSensitive: true, strict: true });
  router.use(authorized);
  router.post('/validate', async (request, response) => {
    await readJson(request, response);
    const { id, name } = callContext(response).key!;
    sendEnvelope(response, 200, { error: null, output: { valid: true, key: { id, name } } });
  });
  router.post('/events', async (request, response) => {
    const parsed = report.safeParse(await readJson(request, response));
    if (!parsed.success) {
      const { path, message } = parsed.error.issues[0]!;
      throw new RunError('invalid_input', `${path.join('.') || 'body'}: ${message}`);
    }
    const { events } = parsed.data;
    count(callContext(response).key!.id, events);
    sendEnvelope(response, 200, { error: null, output: { counted: events.length } });
  });
  router.get('/version', (_request, response) =>
    sendEnvelope(response, 200, { error: null, output: { version } }),
  );
  router.all(['/validate', '/events'], allowOnly('POST'));
  router.all('/version', allowOnly('GET'));
  return router;
}
