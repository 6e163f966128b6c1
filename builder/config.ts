import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { type Outgoing, readOutgoing } from '../runtime/network/certificates.js';
import { proxyArguments } from '../runtime/network/outgoing-settings.js';
import { readSecretFile } from '../runtime/store/secret-file.js';
import { BuilderError } from './exit.js';

/** Settings from the environment. Nothing else under builder/ reads process.env. */
export interface BuilderConfig {
  /** HF_ENDPOINT: address of the hub, without a trailing slash. May hold a password; `hubAddress` separates it. */
  endpoint: string;
  /** HF_HUB_OFFLINE: never connect to the hub. */
  offline: boolean;
  /**
   * HF_TOKEN, else the content of HF_TOKEN_FILE, else the token that the hub's own client stored at login. Only sent to
   * the hub.
   * @throws BuilderError `usage` when the file can't be read
   */
  token(): string | undefined;
  /** Folder for weights and packages: $XDG_CACHE_HOME/slipway, else ~/.cache/slipway. */
  cache: string;
  /** Folder for files that can't be downloaded again: $XDG_DATA_HOME/slipway, else ~/.local/share/slipway. */
  data: string;
  /**
   * Passphrase of the signing key: SIGN_KEY_PASSPHRASE, else the content of SIGN_KEY_PASSPHRASE_FILE.
   * @throws BuilderError `usage` when the file can't be read
   */
  passphrase(): string | undefined;
  /** KEY for containers and servers that this program starts. */
  key: string | undefined;
  /** False with NO_COLOR. */
  colour: boolean;
  /**
   * Proxies and certificate authorities of connections to the hub.
   * @throws BuilderError `usage` when a variable is no proxy, or its file can't be read
   */
  outgoing(): Outgoing;
  /** The variables of proxies as they are set. Engines know them as build arguments and keep them out of images. */
  proxyArguments: Readonly<Record<string, string>>;
  /** SLIPWAY_EXPORT_PYTHON: a Python with the tools for exports. */
  exportPython: string | undefined;
  /** Environment of pip when it installs those tools: all but secrets of ours. */
  toolEnvironment: NodeJS.ProcessEnv;
  /** Environment of servers started by `serve`: all but the hub's token and the passphrase. */
  serverEnvironment: NodeJS.ProcessEnv;
}

/** @throws BuilderError `usage` that names the invalid variable, never its value */
export function readBuilderConfig(env: NodeJS.ProcessEnv = process.env): BuilderConfig {
  return {
    endpoint: endpointFrom(env.HF_ENDPOINT || 'https://huggingface.co', 'HF_ENDPOINT'),
    offline: isSet(env.HF_HUB_OFFLINE),
    token: () =>
      env.HF_TOKEN?.trim() || readSecret('HF_TOKEN_FILE', env.HF_TOKEN_FILE) || readLoginToken(env),
    cache: path.join(env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'slipway'),
    data: path.join(env.XDG_DATA_HOME || path.join(homedir(), '.local/share'), 'slipway'),
    passphrase: () =>
      env.SIGN_KEY_PASSPHRASE || readSecret('SIGN_KEY_PASSPHRASE_FILE', env.SIGN_KEY_PASSPHRASE_FILE),
    key: env.KEY?.trim() || undefined,
    colour: !env.NO_COLOR,
    outgoing: () => readOutgoing(env, (message) => new BuilderError('usage', message)),
    proxyArguments: proxyArguments(env),
    exportPython: env.SLIPWAY_EXPORT_PYTHON || undefined,
    toolEnvironment: { ...env, ...NO_SECRETS, KEY: undefined },
    serverEnvironment: { ...env, ...NO_SECRETS },
  };
}

const NO_SECRETS = {
  ...{ HF_TOKEN: undefined, HF_TOKEN_FILE: undefined },
  ...{ SIGN_KEY_PASSPHRASE: undefined, SIGN_KEY_PASSPHRASE_FILE: undefined },
};

/** @throws BuilderError `usage` when the text is no http(s) address */
export function endpointFrom(text: string, name: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new BuilderError('usage', `${name} is no http(s) address; the hub is https://huggingface.co`);
  }
  return text.replace(/\/+$/, '');
}

/** Reads a switch as the hub's Python client does. */
function isSet(value: string | undefined): boolean {
  return /^(?:1|on|yes|true)$/i.test(value ?? '');
}

/** Where `hf auth login` keeps the token. */
function readLoginToken(env: NodeJS.ProcessEnv): string | undefined {
  if (isSet(env.HF_HUB_DISABLE_IMPLICIT_TOKEN)) return undefined;
  const home = env.HF_HOME || path.join(env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'huggingface');
  const file = env.HF_TOKEN_PATH || path.join(home, 'token');
  return existsSync(file) ? readSecret('HF_TOKEN_PATH', file) : undefined;
}

/** @throws BuilderError `usage` when the file can't be read */
function readSecret(variable: string, file: string | undefined): string | undefined {
  if (!file) return undefined;
  return readSecretFile(variable, file, (message) => new BuilderError('usage', message)) || undefined;
}
