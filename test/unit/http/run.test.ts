import { Readable } from 'node:stream';
import { EventEmitter } from 'node:events';
import type { Request, Response } from 'express';
import { createByteBudget } from '../../../runtime/wire/byte-budget.js';
import { runHandler } from '../../../runtime/http/run.js';
import type { ModelService } from '../../../runtime/http/service.js';
import { createLogger } from '../../../runtime/log.js';
import { refuseMedia } from '../../../runtime/media/resolve.js';
import { taskOf } from '../../../runtime/tasks/registry.js';

test('a caller who left before costs no work', async () => {
  const run: ModelService['run'] = async () => {
    throw new Error('worked for nobody');
  };
  const service = { spec: { task: 'text-classification' }, task: taskOf('text-classification'), run };
  const budget = createByteBudget(1000);
  const handler = runHandler({
    service: service as unknown as ModelService,
    ...{
      resolveMedia: refuseMedia,
      body: { maxBytes: 1000, budget },
      logger: createLogger('json', 'silent'),
    },
  });
  const response = Object.assign(new EventEmitter(), { closed: true, writableFinished: false });
  const request = Object.assign(Readable.from([Buffer.from('{"text":"x"}')]), { headers: {} });
  const answer = handler(request as unknown as Request, response as unknown as Response, () => undefined);
  await expect(answer).rejects.toMatchObject({ code: 'cancelled' });
  expect(budget.held).toBe(0);
});
