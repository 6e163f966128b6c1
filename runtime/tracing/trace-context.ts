import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Where a request stands in a trace, as W3C Trace Context carries it. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  /** The trace is recorded: those who are called record their part, too. */
  isSampled: boolean;
  /** What tracing systems add for themselves (`tracestate`). */
  state: string | undefined;
}

/** Later versions may have more fields behind; `ff` is no version. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** Longest `tracestate` that systems have to pass on. */
const MOST_STATE = 512;

/** The caller's span; undefined where none, or an invalid one, is told, as the specification has it. */
export function readTraceContext(headers: IncomingHttpHeaders): TraceContext | undefined {
  const { traceparent, tracestate } = headers as Record<string, string | string[] | undefined>;
  const found = typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent.trim()) : null;
  if (!found) return undefined;
  const [, version, traceId, spanId, flags, more] = found as unknown as string[];
  if (version === '00' && more) return undefined;
  const state = Array.isArray(tracestate) ? tracestate.join(',') : tracestate;
  return {
    ...{ traceId: traceId!, spanId: spanId! },
    isSampled: (Number.parseInt(flags!, 16) & 1) === 1,
    state: state && state.length <= MOST_STATE ? state : undefined,
  };
}

/** The headers that tell the next server of it. */
export function traceHeaders({ traceId, spanId, isSampled, state }: TraceContext): Record<string, string> {
  const traceparent = `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
  return state ? { traceparent, tracestate: state } : { traceparent };
}

/** A span below `parent`, with an id of its own. */
export const childOf = (parent: TraceContext): TraceContext => ({
  ...parent,
  spanId: randomBytes(8).toString('hex'),
});
