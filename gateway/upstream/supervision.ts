import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerInstance } from './upstream.js';

export interface SupervisionOptions {
  /** Time between two probes, or two tries. */
  everyMs: number;
  /** False when the supervision should end. */
  isActive(): boolean;
}

/** Failed probes in a row after which a server counts as silent. */
const MAX_FAILED_PROBES = 3;

/**
 * Probes a server regularly: a frozen process neither answers its calls nor exits.
 * @returns true when several probes in a row have failed; false when supervision ended
 */
export async function waitUntilSilent(
  server: ServerInstance,
  { everyMs, isActive }: SupervisionOptions,
): Promise<boolean> {
  for (let failed = 0; failed < MAX_FAILED_PROBES;) {
    await sleep(everyMs, undefined, { ref: false });
    if (!isActive()) return false;
    failed = (await server.isAlive()) ? 0 : failed + 1;
  }
  return isActive();
}

/**
 * Stops a server. Settles after the first try; after a failure it tries again in the background while `isActive`.
 */
export async function stopWithRetries(
  server: ServerInstance,
  options: SupervisionOptions & {
    /** Called when a try fails for another reason than the one before. */
    onFailure(reason: string): void;
    lastReason?: string;
  },
): Promise<void> {
  try {
    await server.stop();
  } catch (error) {
    const { message } = error as Error;
    if (message !== options.lastReason) options.onFailure(message);
    const retry = () =>
      void (options.isActive() && stopWithRetries(server, { ...options, lastReason: message }));
    setTimeout(retry, options.everyMs).unref();
  }
}
