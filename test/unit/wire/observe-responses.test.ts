import { createServer } from 'node:http';
import express from 'express';
import { RunError } from '../../../runtime/core/errors.js';
import type { Logger } from '../../../runtime/log.js';
import { type ResponseSummary, observeResponses } from '../../../runtime/wire/observe-responses.js';
import { assignRequestId, errorHandler } from '../../../runtime/wire/middleware.js';
import { closeServers, started } from '../../fakes/gateway.js';
import { waitFor } from '../../fakes/server.js';

afterEach(closeServers);

async function told(
  thrown: unknown,
): Promise<{ answer: ResponseSummary; errors: unknown[]; elapsed: number }> {
  const [answers, errors]: [ResponseSummary[], unknown[]] = [[], []];
  const logger = { error: (...said: unknown[]) => errors.push(said) } as unknown as Logger;
  const app = express();
  app.use(
    assignRequestId,
    observeResponses(new Set(['/known']), (answer) => answers.push(answer)),
  );
  app.get('/known', async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    throw thrown;
  });
  app.use(errorHandler(logger));
  const began = performance.now();
  await (await fetch(`${await started(createServer(app))}/known`)).text();
  await waitFor(() => answers.length === 1);
  return { answer: answers[0]!, errors, elapsed: performance.now() - began };
}

test('an answer is told with its route, status, reason and the time that it took', async () => {
  const { answer, errors, elapsed } = await told(new RunError('invalid_input', 'no'));
  expect(answer).toMatchObject({ route: '/known', status: 400, code: 'invalid_input', method: 'GET' });
  expect(answer.milliseconds).toBeGreaterThan(25);
  expect(answer.milliseconds).toBeLessThanOrEqual(elapsed);
  expect(errors).toEqual([]);
});

test.each([
  ['a fault of ours', new RunError('engine_failed', 'failed'), 500],
  ['a bug', new TypeError('x is undefined'), 500],
])('%s is in the log', async (_, thrown, status) => {
  const { answer, errors } = await told(thrown);
  expect(answer.status).toBe(status);
  expect(errors).toHaveLength(1);
});
