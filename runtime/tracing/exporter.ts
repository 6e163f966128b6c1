import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { TracingSettings } from './settings.js';

/** ExportResultCode of the SDK. */
const [SUCCESS, FAILED] = [0, 1];

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

  async function send(spans: ReadableSpan[]): Promise<void> {
    const body = serializer.serializeRequest(spans);
    const signal = AbortSignal.timeout(timeoutMs);
    const sent = {
      method: 'POST',
      headers: { ...headers, 'Content-Type': type },
      signal,
      redirect: 'error',
    } as const;
    const answer = await fetch(url, { ...sent, body: body as Uint8Array<ArrayBuffer> });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`it answered ${answer.status}`);
  }

  return {
    export(spans, done) {
      const sending = send(spans).then(
        () => {
          if (isLosing) log('traces arrive at the collector again');
          isLosing = false;
          done({ code: SUCCESS! });
        },
        (error: unknown) => {
          if (!isLosing) log(`traces are lost: the collector can't be reached: ${(error as Error).message}`);
          isLosing = true;
          done({ code: FAILED! });
        },
      );
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
