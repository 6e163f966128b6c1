import { spawn, type StdioOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Writable } from 'node:stream';
import path from 'node:path';
import type { ModelSpec } from '../runtime/core/spec.js';
import { MANIFESTS } from '../runtime/store/paths.js';
import { formatSpec } from '../runtime/store/spec-file.js';
import type { CommandDeps } from './deps.js';
import { BuilderError } from './exit.js';
import type { SourceFlags } from './options.js';
import { cacheFolder } from './source.js';

/** KEY of servers on this machine; containers have no default. */
export const LOCAL_KEY = 'local';

export interface LocalServer {
  /** Resolves with the exit code. */
  ended: Promise<number>;
  stop(signal: NodeJS.Signals): void;
}

export interface LocalServerOptions {
  settings: { port: number; address: string; device: string; quiet?: boolean | undefined };
  flags: SourceFlags;
  spec: ModelSpec;
  /** Folder of the model's files. */
  dir: string;
}

/** The server reads model.json from a pipe, because a killed process would leave a file behind. */
const SPEC_FD = 3;

/** Starts the server of images as a process of this machine, which ends with this one. */
export function localServer(
  { settings, flags, spec, dir }: LocalServerOptions,
  deps: CommandDeps,
): LocalServer {
  const { config, packageRoot } = deps;
  const main = path.join(packageRoot, 'dist/image/main.mjs');
  if (!existsSync(main)) throw new BuilderError('failure', 'the server is not built; run `npm run build`');
  const env = {
    LOG_FORMAT: 'text',
    ...config.serverEnvironment,
    MODEL_SPEC: `/dev/fd/${SPEC_FD}`,
    MODEL_DIR: dir,
    ...manifestsOf(dir, path.join(cacheFolder(flags, deps), 'models')),
    UNTIL_STDIN_ENDS: '1',
    KEY: config.key ?? LOCAL_KEY,
    PORT: String(settings.port),
    HOST: settings.address,
    DEVICE: settings.device,
    HF_HUB_OFFLINE: '1',
  };
  // Its log goes to stderr; stdout is for the result.
  const stdio: StdioOptions = ['pipe', settings.quiet ? 'ignore' : 2, 2, 'pipe'];
  const child = spawn(process.execPath, [main], { env, stdio });
  // A server that ends at once closes the pipe; its end is handled below.
  (child.stdio[SPEC_FD] as Writable).on('error', () => {}).end(formatSpec(spec));
  return {
    ended: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => resolve(code ?? 1));
    }),
    stop: (signal) => void child.kill(signal),
  };
}

/** Of a folder that is not in the cache the server keeps what it has verified there, as the builder does. */
const manifestsOf = (dir: string, models: string): Record<string, string> =>
  path.resolve(dir).startsWith(path.resolve(models) + path.sep)
    ? {}
    : { MODEL_MANIFESTS: path.join(models, MANIFESTS) };
