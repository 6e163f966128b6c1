import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from '../../../gateway/config.js';
import type { ModelEntry } from '../../../gateway/catalog/entry.js';
import { secretsOf, serverOptions } from '../../../gateway/upstream/container-settings.js';
import { readServerConfig } from '../../../runtime/boot/config.js';
import { entry } from '../../fakes/launcher.js';

const COLLECTOR = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

const model: ModelEntry = {
  ...entry('org/a'),
  image: { id: 'sha256:one', reference: 'slipway/a', baked: true, device: 'cpu' as const },
};

/** What a container gets, of variables and of secrets. */
function given(env: NodeJS.ProcessEnv, offline = false) {
  const { containerTracing: tracing, proxies, body, hub } = readEnvironment(env);
  const options = { name: 'gate', offline, tracing, proxies, body, hub };
  return { env: serverOptions(model, options).env, secrets: secretsOf(model, options), tracing };
}

test('containers get the standard’s variables, but not the gateway’s name', () => {
  const { env, secrets } = given({
    ...COLLECTOR,
    OTEL_SERVICE_NAME: 'my-gateway',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.1',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  });
  expect(env).toMatchObject({
    ...COLLECTOR,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.1',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  });
  expect(env).not.toHaveProperty('OTEL_SERVICE_NAME');
  expect(Object.keys(secrets)).toEqual(['KEY']);
});

test('headers, and an address with a password, are secrets in files', () => {
  const address = 'https://user:hush@collector:4318';
  const { env, secrets } = given({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address,
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=hush',
  });
  expect(JSON.stringify(env)).not.toContain('hush');
  expect(secrets).toMatchObject({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address,
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=hush',
  });
  expect(env).toMatchObject({ OTEL_EXPORTER_OTLP_HEADERS_FILE: '/run/secrets/OTEL_EXPORTER_OTLP_HEADERS' });
});

test('a server reads them from their files, as the gateway does', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'slipway-tracing-')), 'headers');
  writeFileSync(file, 'api-key=hush\n');
  const env = { ...COLLECTOR, KEY: 'x', OTEL_EXPORTER_OTLP_HEADERS_FILE: file };
  expect(readServerConfig(env).tracing?.headers).toEqual({ 'api-key': 'hush' });
  expect(given(env).secrets).toMatchObject({ OTEL_EXPORTER_OTLP_HEADERS: 'api-key=hush' });
  expect(() => readServerConfig({ ...env, OTEL_EXPORTER_OTLP_HEADERS_FILE: '/none' })).toThrow(
    "OTEL_EXPORTER_OTLP_HEADERS_FILE names a file that can't be read (ENOENT)",
  );
});

test('without a collector, offline, or where the collector would be the container itself, they get nothing', () => {
  const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'a=hush', OTEL_TRACES_SAMPLER: 'always_on' };
  const none = [given(headers), given({ ...COLLECTOR, ...headers }, true)];
  const local = ['http://localhost:4318', 'http://127.0.0.1:4318', 'http://[::1]:4318'].map((address) =>
    given({ ...headers, OTEL_EXPORTER_OTLP_ENDPOINT: address }),
  );
  for (const { env, secrets } of [...none, ...local]) {
    expect(Object.keys(env).filter((name) => name.startsWith('OTEL'))).toEqual([]);
    expect(Object.keys(secrets)).toEqual(['KEY']);
  }
  for (const { tracing } of local) expect(tracing.problem).toContain('containers record no traces');
  expect(none[0]!.tracing.problem).toBeUndefined();
});

test('models that run as processes do not get the gateway’s name either', () => {
  const { server } = readEnvironment({ ...COLLECTOR, OTEL_SERVICE_NAME: 'my-gateway' });
  expect(server).toMatchObject(COLLECTOR);
  expect(server).not.toHaveProperty('OTEL_SERVICE_NAME');
});
