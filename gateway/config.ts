import { DEFAULTS } from '../runtime/core/limits.js';
import { type Outgoing, readOutgoing } from '../runtime/network/certificates.js';
import { exposedProxies, proxyArguments } from '../runtime/network/outgoing-settings.js';
import { readSecretFile } from '../runtime/store/secret-file.js';
import { readTracing, type TracingSettings, tracingSecret } from '../runtime/tracing/settings.js';
import { GatewayError } from './errors.js';
import { type ContainerTracing, containerTracing } from './upstream/container-tracing.js';

/** The only reader of the environment under gateway/. */
export interface GatewayEnvironment {
  logFormat: 'json' | 'text';
  logLevel: string;
  /** REDIS_URL, password included. Rate limits are counted there. */
  redisUrl: string | undefined;
  /** Host and port of the Kubernetes API server; set inside pods only. */
  kubernetes: string | undefined;
  /** Environment of model processes. Its only secrets are the hub's. */
  server: NodeJS.ProcessEnv;
  /** Proxies and certificate authorities of calls to servers that others run. */
  outgoing: Outgoing;
  /** Where spans of calls are sent. */
  tracing: TracingSettings | undefined;
  /** The same for containers. */
  containerTracing: ContainerTracing;
  /** Proxies for containers: those without a password. */
  proxies: Readonly<Record<string, string>>;
  /** Limits of request bodies, the same as in model servers: MAX_BODY_BYTES, MAX_BODY_VALUES. */
  body: { maxBytes: number | undefined; maxValues: number | undefined };
  maxPendingBytes: number;
  /** The hub from which containers download weights that are not in their image. */
  hub: { endpoint?: string | undefined; token?: string | undefined };
}

export function readEnvironment(env: NodeJS.ProcessEnv = process.env): GatewayEnvironment {
  const { KEY: _key, KEY_FILE: _file, REDIS_URL: redisUrl, OTEL_SERVICE_NAME: _name, ...server } = env;
  const fail = (message: string) => new GatewayError(message);
  return {
    logFormat: env['LOG_FORMAT'] === 'json' ? 'json' : 'text',
    logLevel: env['LOG_LEVEL'] || 'info',
    redisUrl: redisUrl || undefined,
    kubernetes: apiServerOf(env),
    server,
    outgoing: readOutgoing(env, fail),
    tracing: readTracing(env, fail),
    containerTracing: containerTracing(env, (name) => tracingSecret(env, name, fail)),
    proxies: Object.fromEntries(
      Object.entries(proxyArguments(env)).filter(([name]) => !exposedProxies(env).includes(name)),
    ),
    body: {
      maxBytes: readPositiveInteger(env, 'MAX_BODY_BYTES'),
      maxValues: readPositiveInteger(env, 'MAX_BODY_VALUES'),
    },
    maxPendingBytes: readPositiveInteger(env, 'MAX_PENDING_BYTES') ?? DEFAULTS.maxPendingBytes,
    hub: {
      endpoint: env['HF_ENDPOINT'] || undefined,
      token: env['HF_TOKEN']?.trim() || readTokenFile(env['HF_TOKEN_FILE'] || undefined),
    },
  };
}

function readPositiveInteger(env: NodeJS.ProcessEnv, name: string): number | undefined {
  const text = env[name];
  if (!text) return undefined;
  if (/^\d{1,15}$/.test(text) && Number(text) > 0) return Number(text);
  throw new GatewayError(`${name} must be a whole number above 0`);
}

function apiServerOf({ KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port }: NodeJS.ProcessEnv) {
  if (!host || !port) return undefined;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function readTokenFile(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  return readSecretFile('HF_TOKEN_FILE', file, (message) => new GatewayError(message)) || undefined;
}
