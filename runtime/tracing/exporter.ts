import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { TracingSettings } from './settings.js';

export interface ExporterParts {
  /** Goes through the proxies and trusts the authorities of the settings. */
  fetch: typeof fetch;
  /** Told once when spans are lost, and again when they arrive. */
  log(line: string): void;
}

/** Sends spans to a collector by OTLP over HTTP. Spans that it does not take are lost: tracing holds up no answer. */
export function createExporter(
  { url, headers, format, timeoutMs }: TracingSettings,
  { fetch, log }: ExporterParts,
): SpanExporter {
  const serializer = format === 'json' ? JsonTraceSerializer : ProtobufTraceSerializer;
  const type = format === 'json' ? 'application/json' : 'application/x-protobuf';
  const underWay = new Set<Promise<void>>();
  let isLosing = false;

  /** @throws Error where the collector does not take them */
  async function post(spans: ReadableSpan[]): Promise<void> {
    const body = serializer.serializeRequest(spans) as Uint8Array<ArrayBuffer>;
    const answer = await fetch(url, {
      ...{ method: 'POST', headers: { ...headers, 'Content-Type': type }, body, redirect: 'error' as const },
      signal: AbortSignal.timeout(timeoutMs),
    });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`it answered ${answer.status}`);
  }

  async function send(spans: ReadableSpan[], done: (result: ExportResult) => void): Promise<void> {
    try {
      await post(spans);
      if (isLosing) log('traces arrive at the collector again');
      isLosing = false;
    } catch (error) {
      if (!isLosing) log(`traces are lost: the collector can't be reached: ${(error as Error).message}`);
      isLosing = true;
    }
    done({ code: isLosing ? ExportResultCode.FAILED : ExportResultCode.SUCCESS });
  }

  return {
    export(spans, done) {
      const sending = send(spans, done);
      underWay.add(sending);
      void sending.finally(() => underWay.delete(sending));
    },
    async forceFlush() {
      await Promise.all(underWay);
    },
    async shutdown() {
      await Promise.all(underWay);
    },
  };
}
