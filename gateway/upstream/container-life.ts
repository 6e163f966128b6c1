import type { Fleet, FleetServer } from '../../builder/docker/fleet.js';
import { PORT } from './container-settings.js';
import { isServerAlive, waitUntilReady } from './server-status.js';
import type { ServerInstance } from './upstream.js';

export const STOP_GRACE_SECONDS = 10;

export interface ContainerLifeOptions {
  fleet: Fleet;
  /** Names of the containers that are used or being started; one that has ended and is removed is taken out. */
  known: Set<string>;
  log: (line: string) => void;
}

export interface ContainerLife {
  /** Resolves when the server is ready. Removes the container when it fails to start, and when it ends. */
  follow(server: FleetServer, signal: AbortSignal): Promise<ServerInstance>;
  /** Removes a container that did not start. @returns the error to throw, with the container's last words */
  failStart(id: string, error: Error): Promise<Error>;
  /** Resolves when all containers that have ended are removed. */
  removed(): Promise<void>;
}

/** What becomes of containers whose program has begun. */
export function containerLife({ fleet, known, log }: ContainerLifeOptions): ContainerLife {
  const removals = new Set<Promise<void>>();

  async function follow({ id, name, address }: FleetServer, signal: AbortSignal): Promise<ServerInstance> {
    const url = `http://${address}:${PORT}`;
    known.add(name);
    const ended = fleet.ended(id);
    const died = new AbortController();
    void ended.then((reason) => {
      died.abort(new Error(reason));
      void removeEnded(id, name);
    });
    try {
      await waitUntilReady(url, AbortSignal.any([signal, died.signal]));
    } catch (error) {
      throw await failStart(id, error as Error);
    }
    return {
      url,
      ended,
      isAlive: () => isServerAlive(url),
      stop: () => fleet.remove(id, STOP_GRACE_SECONDS),
    };
  }

  /** Runs in the background; no call goes to a server that has ended. */
  async function removeEnded(id: string, name: string): Promise<void> {
    const removal = fleet
      .remove(id, 0)
      .catch((error: Error) => log(`${name} can't be removed yet: ${error.message}`));
    removals.add(removal);
    await removal;
    removals.delete(removal);
    known.delete(name);
  }

  async function failStart(id: string, error: Error): Promise<Error> {
    const lastLine = await fleet.lastLine(id).catch(() => '');
    await fleet.remove(id, 0).catch((left: Error) => log(`it can't be removed yet: ${left.message}`));
    return lastLine === ''
      ? error
      : new Error(`${error.message}; its last words: ${lastLine}`, { cause: error });
  }

  return { follow, failStart, removed: async () => void (await Promise.all(removals)) };
}
