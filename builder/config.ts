import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { readSecretFile } from '../runtime/store/secret-file.js';
import { BuilderError } from './exit.js';

/** What the command line takes from its environment. Nothing else under builder/ reads process.env. */
export interface BuilderConfig {
  /** HF_ENDPOINT: address of the hub, without a slash at its end. May hold a password: `hubAddress` takes it apart. */
  endpoint: string;
  /** HF_HUB_OFFLINE: no hub is asked. */
  offline: boolean;
  /**
   * HF_TOKEN, else the content of HF_TOKEN_FILE, else the one that the hub's own client keeps after its login. Goes into
   * requests to the hub and nowhere else.
   * @throws BuilderError `usage` when the file can't be read
   */
  token(): string | undefined;
  /** Folder for weights and packages: $XDG_CACHE_HOME/slipway, else ~/.cache/slipway. */
  cache: string;
  /** Folder for what can't be had again: $XDG_DATA_HOME/slipway, else ~/.local/share/slipway. */
  data: string;
  /**
   * SIGN_KEY_PASSPHRASE, else the content of SIGN_KEY_PASSPHRASE_FILE: of the private key that signs.
   * @throws BuilderError `usage` when the file can't be read
   */
  passphrase(): string | undefined;
  /** KEY for containers and servers that this program starts. */
  key: string | undefined;
  /** False with NO_COLOR. */
  colour: boolean;
  /** What a server started by `serve` inherits: all but secrets that it has no use for (the hub's token, the passphrase). */
  serverEnvironment: NodeJS.ProcessEnv;
}

/** @throws BuilderError `usage` naming the variable that is wrong, never its value */
export function readBuilderConfig(env: NodeJS.ProcessEnv = process.env): BuilderConfig {
  return {
    endpoint: endpointFrom(env.HF_ENDPOINT || 'https://huggingface.co', 'HF_ENDPOINT'),
    offline: isSet(env.HF_HUB_OFFLINE),
    token: () => env.HF_TOKEN?.trim() || secretFrom('HF_TOKEN_FILE', env.HF_TOKEN_FILE) || tokenOfLogin(env),
    cache: path.join(env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'slipway'),
    data: path.join(env.XDG_DATA_HOME || path.join(homedir(), '.local/share'), 'slipway'),
    passphrase: () =>
      env.SIGN_KEY_PASSPHRASE || secretFrom('SIGN_KEY_PASSPHRASE_FILE', env.SIGN_KEY_PASSPHRASE_FILE),
    key: env.KEY?.trim() || undefined,
    colour: !env.NO_COLOR,
    serverEnvironment: {
      ...env,
      ...{ HF_TOKEN: undefined, HF_TOKEN_FILE: undefined },
      ...{ SIGN_KEY_PASSPHRASE: undefined, SIGN_KEY_PASSPHRASE_FILE: undefined },
    },
  };
}

/** @throws BuilderError `usage` when the text is no http(s) address */
export function endpointFrom(text: string, name: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new BuilderError('usage', `${name} is no http(s) address; the hub is https://huggingface.co`);
  }
  return text.replace(/\/+$/, '');
}

/** As the hub's Python client reads its switches. */
function isSet(value: string | undefined): boolean {
  return /^(?:1|on|yes|true)$/i.test(value ?? '');
}

/** Where `hf auth login` keeps the token. */
function tokenOfLogin(env: NodeJS.ProcessEnv): string | undefined {
  if (isSet(env.HF_HUB_DISABLE_IMPLICIT_TOKEN)) return undefined;
  const home = env.HF_HOME || path.join(env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'huggingface');
  const file = env.HF_TOKEN_PATH || path.join(home, 'token');
  return existsSync(file) ? secretFrom('HF_TOKEN_PATH', file) : undefined;
}

/** @throws BuilderError `usage` when the file can't be read */
function secretFrom(variable: string, file: string | undefined): string | undefined {
  if (!file) return undefined;
  return readSecretFile(variable, file, (message) => new BuilderError('usage', message)) || undefined;
}
