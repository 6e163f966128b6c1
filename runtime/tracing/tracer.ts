import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';
import { childOf, readTraceContext, type TraceContext } from './trace-context.js';

/** What is told of a request in its span. Never holds a key or a body. */
export interface SpanEnd {
  /** Method and route, of which there are few. */
  name: string;
  /** Status of the answer. */
  status: number;
  /** Why it failed. */
  code: string | undefined;
  attributes: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** The span of one request. */
export interface RequestSpan {
  context: TraceContext;
  end(end: SpanEnd): void;
}

/** Makes spans of requests. */
export interface Tracer {
  /** @returns undefined where nobody follows the request */
  begin(headers: IncomingHttpHeaders): RequestSpan | undefined;
  /** Sends what is left. */
  close(): Promise<void>;
}

/** Takes over the trace of callers that have one, and records nothing. */
export const passOn: Tracer = {
  begin(headers) {
    const parent = readTraceContext(headers);
    return parent && { context: childOf(parent), end: () => {} };
  },
  close: () => Promise.resolve(),
};

/** The trace of the request that is being answered, for calls of other servers. */
export const currentTrace = new AsyncLocalStorage<TraceContext>();
