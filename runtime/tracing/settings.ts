import { readSecretFile } from '../store/secret-file.js';
import { SECRET_VARIABLES } from './variables.js';

/** Where spans are sent, by the standard's variables. */
export interface TracingSettings {
  /** Address of the collector for traces. */
  url: string;
  headers: Readonly<Record<string, string>>;
  format: 'json' | 'protobuf';
  timeoutMs: number;
  serviceName: string | undefined;
  /** OTEL_RESOURCE_ATTRIBUTES. */
  attributes: Readonly<Record<string, string>>;
}

const PROTOCOLS: Readonly<Record<string, TracingSettings['format']>> = {
  'http/json': 'json',
  'http/protobuf': 'protobuf',
};

const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * Reads OpenTelemetry's variables for traces. Sampling and batches (OTEL_TRACES_SAMPLER, OTEL_BSP_*) are read by its SDK.
 * @returns undefined unless an endpoint is set, or where tracing is switched off
 * @throws what `fail` makes of a value that can't be honoured; the values of headers are not part of it
 */
export function readTracing(
  given: NodeJS.ProcessEnv,
  fail: (message: string) => Error,
): TracingSettings | undefined {
  const secrets = SECRET_VARIABLES.map((name) => [name, tracingSecret(given, name, fail)]);
  const env: NodeJS.ProcessEnv = { ...given, ...Object.fromEntries(secrets) };
  const of = (name: string) => env[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || env[`OTEL_EXPORTER_OTLP_${name}`];
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  const address =
    env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || (base && `${base.replace(/\/$/, '')}/v1/traces`);
  const isOff = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  if (!address || isOff) return undefined;
  const exporter = env['OTEL_TRACES_EXPORTER'] || 'otlp';
  if (exporter !== 'otlp')
    throw fail(`OTEL_TRACES_EXPORTER: ${exporter.slice(0, 50)} is not known; set otlp or none`);
  if (!/^https?:$/.test(URL.parse(address)?.protocol ?? ''))
    throw fail('OTEL_EXPORTER_OTLP_ENDPOINT must be an http(s) address');
  const protocol = of('PROTOCOL') || 'http/protobuf';
  const format = PROTOCOLS[protocol];
  if (format === undefined)
    throw fail(
      `OTEL_EXPORTER_OTLP_PROTOCOL: ${protocol.slice(0, 50)} is not supported; set http/protobuf or http/json`,
    );
  const timeoutMs = Number(of('TIMEOUT') || DEFAULT_TIMEOUT_MS);
  if (!(timeoutMs > 0)) throw fail('OTEL_EXPORTER_OTLP_TIMEOUT must be a number of milliseconds above 0');
  const pairs = (name: string, text: string | undefined) =>
    pairsOf(text, () => fail(`${name} must be key=value pairs with commas between`));
  return {
    ...{ url: address, format, timeoutMs },
    headers: pairs('OTEL_EXPORTER_OTLP_HEADERS', of('HEADERS')),
    serviceName: env['OTEL_SERVICE_NAME'] || undefined,
    attributes: pairs('OTEL_RESOURCE_ATTRIBUTES', env['OTEL_RESOURCE_ATTRIBUTES']),
  };
}

/** The value of a variable, or of the file that is named in its place. @throws what `fail` makes of a file that can't be read */
export function tracingSecret(
  env: NodeJS.ProcessEnv,
  name: (typeof SECRET_VARIABLES)[number],
  fail: (message: string) => Error,
): string | undefined {
  const file = env[`${name}_FILE`];
  return env[name] || (file ? readSecretFile(`${name}_FILE`, file, fail) : undefined);
}

/** Values are percent-encoded. */
function pairsOf(text: string | undefined, fail: () => Error): Record<string, string> {
  const pairs = (text ?? '').split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value] = /^\s*([^=\s]+)\s*=(.*)$/.exec(pair) ?? [];
      if (name === undefined) throw fail();
      try {
        return [name, decodeURIComponent(value!.trim())];
      } catch {
        throw fail();
      }
    }),
  );
}
