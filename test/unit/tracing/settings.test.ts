import { readTracing } from '../../../runtime/tracing/settings.js';

const read = (env: NodeJS.ProcessEnv) => readTracing(env, (message) => new Error(message));
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };

test('without an endpoint, or switched off, nothing is recorded', () => {
  expect(read({})).toBeUndefined();
  expect(read({ ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' })).toBeUndefined();
  expect(read({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' })).toBeUndefined();
});

test('the standard’s defaults', () => {
  expect(read(ENDPOINT)).toEqual({
    url: 'http://collector:4318/v1/traces',
    ...{ format: 'protobuf', timeoutMs: 10_000, headers: {}, attributes: {}, serviceName: undefined },
  });
});

test('variables for traces come before those for all', () => {
  const found = read({
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces/own',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b, x=1=2',
    OTEL_EXPORTER_OTLP_TIMEOUT: '250',
    OTEL_SERVICE_NAME: 'mine',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
  });
  expect(found).toEqual({
    ...{ url: 'https://traces/own', format: 'json', timeoutMs: 250, serviceName: 'mine' },
    headers: { 'api-key': 'a b', x: '1=2' },
    attributes: { 'deployment.environment': 'test' },
  });
});

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /OTEL_EXPORTER_OTLP_ENDPOINT must/],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /grpc is not supported; set http\/protobuf/],
  [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'zipkin' }, /zipkin is not known/],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_TIMEOUT: 'soon' }, /milliseconds/],
  [
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'secret' },
    /^OTEL_EXPORTER_OTLP_HEADERS must be key=value pairs/,
  ],
  [
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz' },
    /^OTEL_EXPORTER_OTLP_HEADERS must be key=value pairs/,
  ],
])('%j is refused by name', (env, message) => {
  expect(() => read(env)).toThrow(message);
});
