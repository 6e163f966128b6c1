import type { RequestListener, ServerResponse } from 'node:http';
import { currentTrace, type RequestSpan, type Tracer } from '../tracing/tracer.js';

const spans = new WeakMap<ServerResponse, RequestSpan>();

/** Follows the trace of each request that asks a model; its span ends where the answer is observed. */
export function traceRequests(tracer: Tracer, listener: RequestListener): RequestListener {
  return (request, response) => {
    const span = request.method === 'POST' ? tracer.begin(request.headers) : undefined;
    if (span === undefined) return listener(request, response);
    spans.set(response, span);
    currentTrace.run(span.context, () => listener(request, response));
  };
}

/** The span of a request, if its trace is followed. */
export const spanOf = (response: ServerResponse): RequestSpan | undefined => spans.get(response);
