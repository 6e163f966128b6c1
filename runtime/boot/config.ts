import { existsSync } from 'node:fs';
import type { z } from 'zod';
import { type Outgoing, readOutgoing } from '../network/certificates.js';
import { BUNDLE_VARIABLES, exposedProxies, PROXY_VARIABLES } from '../network/outgoing-settings.js';
import { hubEndpoint, settingsSchema } from './settings-schema.js';
import { hubAddress } from '../store/hub-address.js';
import { readSecretFile } from '../store/secret-file.js';
import { readTracing, type TracingSettings } from '../tracing/settings.js';

/** A missing or invalid setting. The message is one line that says what to do. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

export const DEFAULT_ENDPOINT = 'https://huggingface.co';

type Secret = 'KEY' | 'KEY_FILE' | 'HF_TOKEN' | 'HF_TOKEN_FILE' | 'HF_ENDPOINT' | 'HF_ENDPOINT_FILE';

type Network = (typeof PROXY_VARIABLES)[number] | (typeof BUNDLE_VARIABLES)[number];

/** All settings except the key, which only a server needs. */
export type ServerSettings = Readonly<
  Omit<z.output<typeof settingsSchema>, Secret | Network | 'SEALED_MANIFEST'> & {
    HF_ENDPOINT: string;
    HF_TOKEN: string | undefined;
    /** The image holds all weights: no hub is contacted and no updates are checked. */
    sealed: boolean;
    /** Path of the sealed record, which may not exist. */
    sealedRecord: string;
    /** Proxies and certificate authorities of connections to other machines. */
    outgoing: Outgoing;
    /** Where spans of requests are sent. */
    tracing: TracingSettings | undefined;
    /** Names of secrets in the environment, where `docker commit` would store them. */
    exposed: readonly string[];
  }
>;

/** KEY: the operator's key; never empty. */
export type ServerConfig = ServerSettings & Readonly<{ KEY: string }>;

/**
 * Reads, checks and freezes the settings.
 * @throws ConfigError that names the variable, never its value, which may be a secret
 */
export function readServerConfig(env: NodeJS.ProcessEnv): ServerConfig {
  const settings = readServerSettings(env);
  return Object.freeze({ ...settings, KEY: readKey(env.KEY, env.KEY_FILE || undefined) });
}

/** As readServerConfig, for commands that need no KEY. An empty value counts as absent. */
export function readServerSettings(env: NodeJS.ProcessEnv): ServerSettings {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = settingsSchema.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw new ConfigError(`${issue.path.join('.')} ${issue.message}`);
  }
  const { KEY, KEY_FILE: _, HF_TOKEN, HF_TOKEN_FILE, HF_ENDPOINT, HF_ENDPOINT_FILE, ...others } = parsed.data;
  const { SEALED_MANIFEST, ...rest } = withoutNetwork(others);
  const sealed = existsSync(SEALED_MANIFEST);
  const isSecret = HF_ENDPOINT !== undefined && hubAddress(HF_ENDPOINT).authorization !== undefined;
  return Object.freeze({
    ...rest,
    ...(sealed ? { HF_HUB_OFFLINE: true, UPDATE_URL: undefined, VALIDATE_URL: undefined } : {}),
    sealed,
    sealedRecord: SEALED_MANIFEST,
    exposed: [
      ...Object.keys({
        ...(KEY && { KEY }),
        ...(HF_TOKEN && { HF_TOKEN }),
        ...(isSecret && { HF_ENDPOINT }),
      }),
      ...exposedProxies(env),
    ],
    outgoing: readOutgoing(env, (message) => new ConfigError(message)),
    tracing: readTracing(env, (message) => new ConfigError(message)),
    HF_TOKEN: HF_TOKEN ?? secretFrom('HF_TOKEN_FILE', HF_TOKEN_FILE),
    HF_ENDPOINT: HF_ENDPOINT ?? endpointFrom(HF_ENDPOINT_FILE) ?? DEFAULT_ENDPOINT,
  });
}

function withoutNetwork<T extends object>(settings: T): Omit<T, Network> {
  const names: readonly string[] = [...PROXY_VARIABLES, ...BUNDLE_VARIABLES];
  const rest = Object.entries(settings).filter(([name]) => !names.includes(name));
  return Object.fromEntries(rest) as Omit<T, Network>;
}

function endpointFrom(file: string | undefined): string | undefined {
  const text = secretFrom('HF_ENDPOINT_FILE', file);
  if (text === undefined) return undefined;
  const parsed = hubEndpoint.safeParse(text);
  if (!parsed.success) throw new ConfigError('HF_ENDPOINT_FILE holds no http(s) address');
  return parsed.data;
}

function readKey(key: string | undefined, file: string | undefined): string {
  const value = key?.trim() || secretFrom('KEY_FILE', file);
  if (value) return value;
  throw new ConfigError(
    'KEY is not set; give any non-empty value (-e KEY=...), or KEY_FILE with a file that holds it',
  );
}

function secretFrom(variable: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const text = readSecretFile(variable, file, (message) => new ConfigError(message));
  if (text) return text;
  throw new ConfigError(`${variable} names a file that is empty`);
}
