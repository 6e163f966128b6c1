import type { Response } from 'express';
import type { RunError } from '../../core/errors.js';
import { VERSION } from '../../version.js';
import { sendJson, setRetryAfter } from '../../wire/respond.js';
import type { Dialect, DialectCall, DialectRoute } from '../dialect.js';
import { infer, inferBody, metadata, modelOf } from './infer.js';

const get = (path: string, summary: string, handle: DialectRoute['handle']): DialectRoute => ({
  ...{ method: 'GET', path: `/v2${path}`, summary, handle },
});

function server({ response }: DialectCall): void {
  sendJson(response, 200, JSON.stringify({ name: 'slipway', version: VERSION, extensions: [] }));
}

function live({ response }: DialectCall): void {
  sendJson(response, 200, JSON.stringify({ live: true }));
}

function ready({ response, host }: DialectCall): void {
  const isReady = host.ready();
  sendJson(response, isReady ? 200 : 503, JSON.stringify({ ready: isReady }));
}

function modelReady(call: DialectCall): void {
  const { modelId } = modelOf(call);
  const isReady = call.host.ready();
  sendJson(call.response, isReady ? 200 : 503, JSON.stringify({ name: modelId, ready: isReady }));
}

function sendOipError(response: Response, error: RunError): void {
  setRetryAfter(response, error);
  sendJson(response, error.status, JSON.stringify({ error: error.message }));
}

const inferAt = (path: string): DialectRoute => ({
  ...{ method: 'POST', path: `/v2${path}`, body: inferBody, handle: infer },
  summary: 'Ask the model, one request for each row',
});

/** Open Inference Protocol v2, which KServe and similar servers speak. */
export const openInference: Dialect = {
  name: 'oip',
  title: 'Open Inference Protocol',
  sendError: sendOipError,
  routes: [
    get('', 'What the server is', server),
    { ...get('/health/live', 'The process is alive', live), open: true },
    { ...get('/health/ready', 'Ready to answer', ready), open: true },
    inferAt('/models/*id/versions/:version/infer'),
    inferAt('/models/*id/infer'),
    get('/models/*id/ready', 'Whether the model is ready', modelReady),
    get('/models/*id', 'Which tensors the model takes and gives', metadata),
  ],
};
