import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerInstance } from './upstream.js';

export interface SupervisionOptions {
  /** Between two looks, or two tries. */
  everyMs: number;
  /** False once it is over: the server is gone, or somebody else cares for it. */
  isActive(): boolean;
}

/** Looks in a row at which a server is silent before it is given up. */
const SILENT_LOOKS = 3;

/**
 * Looks at a server as long as it goes on: a frozen one ends no call and tells no end.
 * @returns true when it has been silent at several looks in a row
 */
export async function waitUntilSilent(
  server: ServerInstance,
  { everyMs, isActive: goesOn }: SupervisionOptions,
): Promise<boolean> {
  for (let silent = 0; silent < SILENT_LOOKS;) {
    await sleep(everyMs, undefined, { ref: false });
    if (!goesOn()) return false;
    silent = (await server.isAlive()) ? 0 : silent + 1;
  }
  return goesOn();
}

/**
 * Stops a server. Settles after the first try; where that fails, it is tried again as long as the server goes on.
 * @param tell called with each reason of a failure that is not the one before
 */
export async function stopWithRetries(
  server: ServerInstance,
  options: SupervisionOptions & { tell(reason: string): void; told?: string },
): Promise<void> {
  try {
    await server.stop();
  } catch (error) {
    const { message } = error as Error;
    if (message !== options.told) options.tell(message);
    const again = () => void (options.isActive() && stopWithRetries(server, { ...options, told: message }));
    setTimeout(again, options.everyMs).unref();
  }
}
