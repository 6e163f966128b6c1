import type { Response } from 'express';
import type { ModelSpec } from '../core/spec.js';
import { USAGE_HEADERS } from '../core/usage.js';
import type { ResponseSummary } from '../wire/observe-responses.js';
import { spanOf } from '../wire/trace-requests.js';

/** Ends the span of an answer, with OpenTelemetry's names where it has one. */
export function endSpan(
  { requestId, method, route, status, code }: ResponseSummary,
  response: Response,
  { id, task }: Pick<ModelSpec, 'id' | 'task'>,
): void {
  const tokens = (name: 'tokensIn' | 'tokensOut') => {
    const header = response.getHeader(USAGE_HEADERS[name]);
    return header === undefined ? undefined : Number(header);
  };
  spanOf(response)?.end({
    name: route ? `${method} ${route}` : method,
    ...{ status, code },
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'slipway.request_id': requestId,
      'slipway.task': task,
      'gen_ai.request.model': id,
      'gen_ai.usage.input_tokens': tokens('tokensIn'),
      'gen_ai.usage.output_tokens': tokens('tokensOut'),
    },
  });
}
