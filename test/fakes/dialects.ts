import { createServer, type RequestListener } from 'node:http';
import type { TaskId } from '../../runtime/core/task-ids.js';
import type { ModelService } from '../../runtime/http/service.js';
import { fakeApp, type FakeAppOptions } from './app.js';
import { gateway, started } from './gateway.js';

/** Addresses at which the dialects of a model are found. */
export const MOUNTS = ['container', 'gateway', 'below the model’s address'] as const;

export type Mount = (typeof MOUNTS)[number];

/** A model that a test makes up, in its container, or behind a gateway. @returns the address that routes are below */
export async function mounted(
  mount: Mount,
  options: { task: TaskId; run?: ModelService['run'] } & Partial<FakeAppOptions>,
): Promise<string> {
  const app: RequestListener = fakeApp(options);
  if (mount === 'container') return started(createServer(app));
  const base = await gateway({ container: app, models: [{ modelId: 'test/model', task: options.task }] });
  return mount === 'gateway' ? base.slice(0, -'/models/v2'.length) : `${base}/test/model`;
}
