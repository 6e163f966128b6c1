import type { RequestListener } from 'node:http';
import { sendEnvelope } from '../../runtime/wire/respond.js';
import type { Request, Response } from 'express';
import { bareApplication } from '../../runtime/wire/application.js';
import type { GatewayMetrics } from '../records/metrics.js';

/** Metrics for operators. Needs no key, so it listens on an address of its own that only operators can reach. */
export function adminApp(metrics: GatewayMetrics): RequestListener {
  const app = bareApplication();
  app.get('/metrics', async (_request, response) => {
    response.setHeader('Content-Type', metrics.contentType);
    response.end(await metrics.text());
  });
  const notFound = (response: Response) =>
    sendEnvelope(response, 404, { error: 'no such route; there is GET /metrics', output: null });
  app.use((_request, response) => notFound(response));
  return (request, response) =>
    app(request as Request, response as Response, () => notFound(response as Response));
}
