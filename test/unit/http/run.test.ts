import { EventEmitter } from 'node:events';
import type { Request, Response } from 'express';
import { createByteBudget } from '../../../runtime/wire/byte-budget.js';
import { runHandler } from '../../../runtime/http/run.js';
import type { ModelService } from '../../../runtime/http/service.js';
import { refuseMedia } from '../../../runtime/media/resolve.js';
import { taskOf } from '../../../runtime/tasks/registry.js';

test('a caller who left while the body was read costs no work', async () => {
  const run: ModelService['run'] = async (_input, { signal }) => {
    signal.throwIfAborted();
    throw new Error('worked for nobody');
  };
  const service = { spec: { task: 'text-classification' }, task: taskOf('text-classification'), run };
  const handler = runHandler({
    service: service as unknown as ModelService,
    ...{ resolveMedia: refuseMedia, budget: createByteBudget(1000) },
  });
  const response = Object.assign(new EventEmitter(), { closed: true, writableFinished: false });
  const request = { body: { text: 'x' } } as Request;
  const answer = handler(request, response as unknown as Response, () => undefined);
  await expect(answer).rejects.toMatchObject({ code: 'cancelled' });
});
