import type { ExporterParts } from './exporter.js';
import type { Service } from './open-telemetry.js';
import type { TracingSettings } from './settings.js';
import { passOn, type Tracer } from './tracer.js';

/** The tracer of a program. OpenTelemetry's SDK is loaded only where spans are to be sent. */
export async function openTracer(
  settings: TracingSettings | undefined,
  service: Service,
  parts: ExporterParts,
): Promise<Tracer> {
  if (settings === undefined) return passOn;
  const { openTelemetry } = await import('./open-telemetry.js');
  return openTelemetry(settings, service, parts);
}
