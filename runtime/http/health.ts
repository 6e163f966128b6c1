import { Router } from 'express';
import { VERSION } from '../version.js';
import { sendEnvelope, sendJson } from '../wire/respond.js';
import type { ModelService, ServiceStatus } from './service.js';

/** /health (ready to answer?), /livez (is the process alive?), /status (details for operators) and /version. */
export function healthRoutes(service: ModelService): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/livez', (_request, response) => sendEnvelope(response, 200, { error: null, output: 'alive' }));
  router.get('/health', (_request, response) => {
    const status = service.status();
    if (status.state === 'ready') return sendEnvelope(response, 200, { error: null, output: 'ready' });
    response.setHeader('Retry-After', '1');
    sendEnvelope(response, 503, { error: sentence(status), output: null });
  });
  router.get('/version', (_request, response) =>
    sendJson(response, 200, JSON.stringify({ version: VERSION })),
  );
  router.get('/status', (_request, response) => {
    const { state, reason, progress, details } = service.status();
    const output = { state, reason: reason ?? null, progress: progress ?? null, ...details };
    sendEnvelope(response, 200, { error: null, output });
  });
  return router;
}

function sentence({ state, reason, progress }: ServiceStatus): string {
  if (reason !== undefined) return `${state}: ${reason}`;
  return progress === undefined ? state : `${state}: ${Math.floor(progress * 100)} %`;
}
