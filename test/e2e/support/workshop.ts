import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startContainer, type TestContainer } from './container.js';
import { builder, docker, type Finished } from './process.js';
import { startZooHub, type ZooHub } from './zoo-hub.js';

/** The first image for audio or video compiles its ffmpeg, on a busy machine for minutes. */
const BUILD_MS = 20 * 60_000;

/** A hub, a folder and an image namespace of a suite's own; all that it makes goes away with it. */
export interface Workshop {
  hub: ZooHub;
  folder: string;
  namespace: string;
  /** `builder <args>` against the hub, with a cache and an output folder of its own. */
  builder(args: string[], env?: Record<string, string>): Promise<Finished>;
  /** Builds an image and gives its name. @throws with the output when that fails */
  build(id: string, ...flags: string[]): Promise<string>;
  /** Seals a model or an image and gives the sealed image's name. @throws with the output when that fails */
  snapshot(given: string, env?: Record<string, string>): Promise<string>;
  start(image: string, flags?: string[]): Promise<TestContainer>;
  /** Takes away all images of this namespace. */
  removeImages(): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param options.ownCommits false: the hub's models have the commits that they have in every workshop. By default they have
 * others, so that no image of a model is one of a file that runs at the same time; runtime images are the same.
 */
export async function openWorkshop({ ownCommits = true } = {}): Promise<Workshop> {
  const folder = await mkdtemp(path.join(tmpdir(), 'slipway-e2e-'));
  const namespace = `slipway-e2e-${path.basename(folder).slice(-6).toLowerCase()}`;
  const hub = await startZooHub(ownCommits ? namespace : undefined);
  const containers: TestContainer[] = [];
  const common = ['--cache', path.join(folder, 'cache'), '--hub', `http://127.0.0.1:${hub.port}`];
  const image = ['--namespace', namespace, '--out', path.join(folder, 'images')];
  const flagsOf: Record<string, string[]> = {
    plan: common,
    fetch: common,
    build: [...common, ...image],
    snapshot: [...common, ...image],
    run: [...common, ...image],
  };
  const call: Workshop['builder'] = (args, env) =>
    builder([...args, ...(flagsOf[args[0]!] ?? [])], { env, timeoutMs: BUILD_MS });
  return {
    hub,
    folder,
    namespace,
    builder: call,
    async build(id, ...flags) {
      const { code, stdout, stderr } = await call(['build', id, ...flags]);
      if (code !== 0) throw new Error(`builder build ${id} ended with ${code}:\n${stderr}`);
      return stdout.trim();
    },
    async snapshot(given, env) {
      const { code, stdout, stderr } = await call(['snapshot', given], env);
      if (code !== 0) throw new Error(`builder snapshot ${given} ended with ${code}:\n${stderr}`);
      return stdout.trim();
    },
    async start(name, flags) {
      const container = await startContainer(name, flags);
      containers.push(container);
      return container;
    },
    removeImages: () => removeImages(namespace),
    async close() {
      try {
        await Promise.all(containers.map((container) => container.remove()));
        await removeImages(namespace);
      } finally {
        await rm(folder, { recursive: true, force: true });
        await hub.close();
      }
    },
  };
}

/** By name, and the runtime images last: what others are made from can't go before them. */
async function removeImages(namespace: string): Promise<void> {
  const filter = ['--filter', `reference=${namespace}/*`, '--format', '{{.Repository}}:{{.Tag}}'];
  const names = (await docker('images', ...filter)).split('\n').filter(Boolean);
  const isRuntime = (name: string) => Number(name.startsWith(`${namespace}/runtime:`));
  const ordered = names.sort((a, b) => isRuntime(a) - isRuntime(b));
  if (ordered.length > 0) await docker('rmi', '--force', ...ordered);
}
