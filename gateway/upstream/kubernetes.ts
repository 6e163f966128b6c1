import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { RunError } from '../../runtime/core/errors.js';
import type { Upstream } from './upstream.js';
import { createAdmissionQueue } from './admission-queue.js';

export interface KubernetesOptions {
  /** Most callers waiting for pods. */
  maxWaiting: number;
  /** How long a ready server is assumed to stay ready. */
  trustMs?: number;
  /** Time between two probes of a server that is not ready. */
  probeEveryMs?: number;
}

/** Long, because Knative holds the probe until a pod is ready. */
const PROBE_TIMEOUT_MS = 60_000;

/**
 * Servers that a cluster runs, at the addresses of the catalogue, used in turn. Nothing is started here: callers wait
 * while no pod of their model is ready, because it starts, moves, or Knative has scaled to zero.
 */
export function kubernetesUpstream({
  maxWaiting,
  trustMs = 5000,
  probeEveryMs = 1000,
}: KubernetesOptions): Upstream {
  const agent = new Agent({ headersTimeout: PROBE_TIMEOUT_MS, bodyTimeout: PROBE_TIMEOUT_MS });
  const queue = createAdmissionQueue(maxWaiting);
  const readyUntil = new Map<string, number>();
  const probes = new Map<string, Promise<boolean>>();
  let turn = 0;

  /** All callers waiting for one server share one probe. */
  function probe(url: string): Promise<boolean> {
    const pending = probes.get(url);
    if (pending) return pending;
    const started = isReady(url, agent).finally(() => probes.delete(url));
    probes.set(url, started);
    return started;
  }

  async function probeOrPause(url: string): Promise<boolean> {
    const ready = await probe(url);
    if (ready) readyUntil.set(url, performance.now() + trustMs);
    else await sleep(probeEveryMs, undefined, { ref: false });
    return ready;
  }

  return {
    async acquire({ modelId, addresses }, signal) {
      const url = addresses[turn++ % addresses.length];
      if (url === undefined)
        throw new RunError('not_ready', `no Service of the cluster answers for ${modelId}`);
      const since = performance.now();
      let cold = false;
      while ((readyUntil.get(url) ?? 0) < performance.now()) {
        await queue.wait(
          probeOrPause(url).then(() => undefined),
          signal,
        );
        // A running pod answers its probe at once; a slower answer means a cold start.
        cold = performance.now() - since > probeEveryMs;
      }
      // The Service has other pods, or is probed until it has one.
      const suspect = async () => void readyUntil.delete(url);
      return { url, cold, release: () => {}, suspect };
    },
    close: () => agent.destroy(),
  };
}

async function isReady(url: string, dispatcher: Agent): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
    const { statusCode, body } = await request(`${url}/health`, { dispatcher, signal });
    await body.dump();
    return statusCode === 200;
  } catch {
    // Connection refused or name not found: both end when a pod is ready.
    return false;
  }
}
