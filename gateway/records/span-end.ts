import type { SpanEnd } from '../../runtime/tracing/tracer.js';
import type { FinishedCall } from './finished-call.js';

/** What the span of a call tells, with OpenTelemetry's names where it has one. Paths are left out: they may hold keys. */
export function spanEndOf({
  requestId,
  method,
  status,
  code,
  keyId,
  model,
  cold,
  waitedMs,
  tokens,
}: FinishedCall): SpanEnd {
  return {
    name: model ? `${method} model` : method,
    ...{ status, code },
    attributes: {
      'http.request.method': method,
      'slipway.request_id': requestId,
      'slipway.key_id': keyId,
      'slipway.task': model?.task,
      'slipway.cold_start': cold,
      'slipway.waited_ms': waitedMs,
      'gen_ai.request.model': model?.modelId,
      'gen_ai.usage.input_tokens': tokens?.in,
      'gen_ai.usage.output_tokens': tokens?.out,
    },
  };
}
