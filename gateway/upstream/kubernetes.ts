import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { RunError } from '../../runtime/core/errors.js';
import type { Upstream } from './upstream.js';
import { createAdmissionQueue } from './admission-queue.js';

export interface KubernetesOptions {
  /** Callers that may wait for pods. */
  maxWaiting: number;
  /** How long a pod that was ready is taken to be so. */
  trustMs?: number;
  /** Between two looks at one that is not. */
  probeEveryMs?: number;
}

/** Knative holds the look itself until a pod is there. */
const LOOK_TIMEOUT_MS = 60_000;

/**
 * Servers that a cluster runs, at the addresses of the catalogue, in turn. Nothing is started here: callers are held
 * while no pod of theirs is ready, because it starts, moves, or Knative has none running.
 */
export function kubernetesUpstream({
  maxWaiting,
  trustMs = 5000,
  probeEveryMs: lookEveryMs = 1000,
}: KubernetesOptions): Upstream {
  const agent = new Agent({ headersTimeout: LOOK_TIMEOUT_MS, bodyTimeout: LOOK_TIMEOUT_MS });
  const line = createAdmissionQueue(maxWaiting);
  const readyUntil = new Map<string, number>();
  const looks = new Map<string, Promise<boolean>>();
  let turn = 0;

  /** One look at a time for all who wait for the same server. */
  function look(url: string): Promise<boolean> {
    const before = looks.get(url);
    if (before) return before;
    const now = isReady(url, agent).finally(() => looks.delete(url));
    looks.set(url, now);
    return now;
  }

  async function untilReady(url: string): Promise<boolean> {
    const ready = await look(url);
    if (ready) readyUntil.set(url, performance.now() + trustMs);
    else await sleep(lookEveryMs, undefined, { ref: false });
    return ready;
  }

  return {
    async acquire({ modelId, addresses }, signal) {
      const url = addresses[turn++ % addresses.length];
      if (url === undefined)
        throw new RunError('not_ready', `no Service of the cluster answers for ${modelId}`);
      const asked = performance.now();
      let cold = false;
      while ((readyUntil.get(url) ?? 0) < performance.now()) {
        await line.wait(
          untilReady(url).then(() => undefined),
          signal,
        );
        // A pod that is there answers at once.
        cold = performance.now() - asked > lookEveryMs;
      }
      return { url, cold, release: () => {} };
    },
    close: () => agent.destroy(),
  };
}

async function isReady(url: string, dispatcher: Agent): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(LOOK_TIMEOUT_MS);
    const { statusCode, body } = await request(`${url}/health`, { dispatcher, signal });
    await body.dump();
    return statusCode === 200;
  } catch {
    // Nobody listens there yet, or no name leads there: both pass once a pod is ready.
    return false;
  }
}
