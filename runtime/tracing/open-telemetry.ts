import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { createExporter, type ExporterParts } from './exporter.js';
import type { TracingSettings } from './settings.js';
import { readTraceContext } from './trace-context.js';
import type { Tracer } from './tracer.js';

/** The program whose requests are traced. */
export interface Service {
  name: string;
  version: string;
}

const FIRST_ERROR_STATUS = 500;

/** Records a span for each request, below the caller's if there is one. */
export function openTelemetry(settings: TracingSettings, service: Service, parts: ExporterParts): Tracer {
  const provider = new BasicTracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.version': service.version,
        ...settings.attributes,
        'service.name': settings.serviceName ?? settings.attributes['service.name'] ?? service.name,
      }),
    ),
    spanProcessors: [new BatchSpanProcessor(createExporter(settings, parts))],
  });
  const tracer = provider.getTracer('slipway', service.version);
  return {
    begin(headers) {
      const parent = readTraceContext(headers);
      const span = tracer.startSpan(
        'request',
        { kind: SpanKind.SERVER },
        parent ? contextOf(parent) : ROOT_CONTEXT,
      );
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        context: {
          traceId,
          spanId,
          isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0,
          state: parent?.state,
        },
        end({ name, status, code, attributes }) {
          span.updateName(name);
          span.setAttributes(attributes);
          span.setAttribute('http.response.status_code', status);
          if (code !== undefined) span.setAttribute('error.type', code);
          if (status >= FIRST_ERROR_STATUS) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    // Spans that are lost have been told of by the exporter.
    close: () => provider.shutdown().catch(() => undefined),
  };
}

const contextOf = ({ traceId, spanId, isSampled }: { traceId: string; spanId: string; isSampled: boolean }) =>
  trace.setSpanContext(ROOT_CONTEXT, {
    ...{ traceId, spanId, isRemote: true },
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
  });
