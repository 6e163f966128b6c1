import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { access, constants, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { connectionProblem } from '../runtime/network/connection-problem.js';
import { outgoingFetch } from '../runtime/network/outgoing-fetch.js';
import { hubAddress } from '../runtime/store/hub-address.js';
import { makeFolder } from '../runtime/store/make-folder.js';
import type { BuilderConfig } from './config.js';
import type { Docker } from './docker/docker.js';
import { BuilderError } from './exit.js';
import { findTools } from './export/tools.js';
import { megabytes } from './report.js';

/** Result of one check. `warn` does not fail `builder doctor`, because only some commands need it. */
export interface CheckResult {
  check: string;
  state: 'ok' | 'warn' | 'fail';
  detail: string;
  /** What to do, unless the state is ok. */
  remedy?: string;
}

export interface CheckDeps {
  config: BuilderConfig;
  docker: Docker;
  packageRoot: string;
  nodeVersion: string;
  /** The program, by its usual name unless given. */
  ffmpeg?: string;
}

type Check = (deps: CheckDeps) => Promise<Omit<CheckResult, 'check'>>;

const MIN_NODE = [20, 19] as const;
const MIN_FREE_BYTES = 2e9;
const HUB_TIMEOUT_MS = 8000;
const PORT = 8080;

const ok = (detail: string) => ({ state: 'ok', detail }) as const;
const fail = (detail: string, remedy: string) => ({ state: 'fail', detail, remedy }) as const;
const warn = (detail: string, remedy: string) => ({ state: 'warn', detail, remedy }) as const;

const CHECKS: Record<string, Check> = {
  async node({ nodeVersion }) {
    const [major = 0, minor = 0] = nodeVersion.replace(/^v/, '').split('.').map(Number);
    if (major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1])) return ok(nodeVersion);
    return fail(nodeVersion, `install Node.js ${MIN_NODE.join('.')} or newer`);
  },

  async server({ packageRoot }) {
    if (existsSync(path.join(packageRoot, 'dist/image/main.mjs'))) return ok('built');
    return fail('the server is not built', 'run "npm run build"');
  },

  async docker({ docker }) {
    try {
      const { version, apiVersion, storage, platform } = await docker.info();
      return ok(`Engine ${version} (API ${apiVersion}, ${storage}, ${platform})`);
    } catch (error) {
      return fail(
        (error as Error).message,
        'start Docker; "builder plan" and "builder serve" work without it',
      );
    }
  },

  async ffmpeg({ ffmpeg = 'ffmpeg' }) {
    const version = await versionOf(ffmpeg);
    if (version !== undefined) return ok(version);
    return warn(
      'not installed',
      'install ffmpeg to run models for audio and video with "builder serve"; container images have their own',
    );
  },

  async exports({ config, packageRoot }) {
    const { cache, exportPython: python, toolEnvironment: env } = config;
    const state = await findTools({ python, cache, packageRoot, env });
    if ('python' in state) return ok(`tools in ${state.from}`);
    const needed = 'only models that no graph can be written for need them';
    return warn(`tools: ${state.problem} (${needed})`, state.remedy);
  },

  async cache({ config }) {
    try {
      await makeFolder(config.cache);
      await access(config.cache, constants.W_OK);
    } catch (error) {
      return fail(
        `${config.cache}: ${(error as NodeJS.ErrnoException).code}`,
        'give another folder with --cache',
      );
    }
    const { bavail, bsize } = await statfs(config.cache);
    const free = `${megabytes(bavail * bsize)} free in ${config.cache}`;
    return bavail * bsize >= MIN_FREE_BYTES
      ? ok(free)
      : fail(free, 'free some space, or give another --cache');
  },

  async hub({ config }) {
    if (config.offline) return ok('not asked: HF_HUB_OFFLINE is set');
    const { url, authorization } = hubAddress(config.endpoint);
    try {
      const headers = new Headers(authorization === undefined ? {} : { authorization });
      const signal = AbortSignal.timeout(HUB_TIMEOUT_MS);
      const answer = await outgoingFetch(config.outgoing())(`${url}/api/models?limit=1`, { headers, signal });
      await answer.body?.cancel();
      // Mirrors may lack the search; any answer below 500 shows that the hub is up.
      if (answer.status < 500) return ok(url);
      return warn(`${url} answers ${answer.status}`, 'try again later');
    } catch (error) {
      if (error instanceof BuilderError) return fail(error.message, 'correct the variable, or unset it');
      const problem = connectionProblem(error);
      if (problem) return warn(`no connection to ${url} (${problem.fact})`, problem.remedy);
      return warn(
        `${url} does not answer`,
        'check the network, its proxy (HTTPS_PROXY) or HF_ENDPOINT; --from needs no hub',
      );
    }
  },

  async token({ config }) {
    try {
      return ok(config.token() ? 'given' : 'none: enough for public models');
    } catch (error) {
      return fail((error as Error).message, 'name a readable file, or unset HF_TOKEN_FILE');
    }
  },

  async port() {
    const free = await isFree(PORT);
    return free ? ok(`${PORT} is free`) : warn(`${PORT} is taken`, 'give another one with --port');
  },
};

/** What an installed ffmpeg calls itself, or undefined without one. */
function versionOf(ffmpeg: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(ffmpeg, ['-version'], (error, stdout) =>
      resolve(error ? undefined : (/^ffmpeg version \S+/.exec(stdout)?.[0] ?? 'ffmpeg')),
    );
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Runs all checks concurrently; results are in the order of the table. */
export function runChecks(deps: CheckDeps): Promise<CheckResult[]> {
  return Promise.all(Object.entries(CHECKS).map(async ([check, run]) => ({ check, ...(await run(deps)) })));
}
