import type { ModelEntry } from '../../gateway/catalog/entry.js';
import { createPool, type PoolOptions } from '../../gateway/upstream/pool.js';
import type { ServerInstance, Launcher } from '../../gateway/upstream/upstream.js';

/** A model of the catalogue. */
export const entry = (modelId: string, ramRequired = 1): ModelEntry => ({
  ...{ modelId, ramRequired, task: 'chat', params: null, addresses: [], figures: 'given' },
});

export interface FakeServer extends ServerInstance {
  modelId: string;
  die(reason: string): void;
}

/** Servers that are started at once, or when the test says so; `deaf` ones go on when they are told to give up. */
export function fakeLauncher({ held = false, deaf = false } = {}) {
  const running: FakeServer[] = [];
  const starts: string[] = [];
  const gates: ((error?: Error) => void)[] = [];
  const launcher: Launcher = {
    async launch({ modelId }, signal) {
      starts.push(modelId);
      if (held)
        await new Promise<void>((resolve, reject) => {
          gates.push((error) => (error ? reject(error) : resolve()));
          if (!deaf) signal.addEventListener('abort', () => reject(signal.reason as Error));
        });
      let die!: (reason: string) => void;
      const ended = new Promise<string>((resolve) => (die = resolve));
      const server: FakeServer = {
        modelId,
        url: `http://${modelId}`,
        ended,
        die,
        isAlive: async () => running.includes(server),
        stop: async () => die('stopped'),
      };
      running.push(server);
      void ended.then(() => running.splice(running.indexOf(server), 1));
      return server;
    },
  };
  return { launcher, running, starts, gates, names: () => running.map(({ modelId }) => modelId) };
}

/** A pool for 2 GB. */
export const pool = (launcher: Launcher, options: Partial<PoolOptions> = {}) =>
  createPool({ launcher, memoryGb: 2, idleMs: 60_000, maxWaiting: 100, log: () => {}, ...options });
/** Of callers who stay. */
export const never = new AbortController().signal;
