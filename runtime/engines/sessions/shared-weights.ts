import { mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCRATCH, scratchOf } from '../../boot/scratch.js';
import type { GraphSource } from './graph-source.js';
import type { SessionHost } from './host.js';

export interface SharedWeights {
  /** Graph to open in place of the original. */
  path: string;
  /** To be called once all sessions are open: the files go, their mappings stay. */
  unlink(): void;
}

interface Weights {
  graph: GraphSource;
  /** Size of graph and weights. */
  bytes: number;
  /** Where the copy goes. */
  folder?: string;
}

/** File systems that live in memory: weights there would count twice. */
const MEMORY_FILE_SYSTEMS = new Set([0x01021994, 0x858458f6]);

/** Largest weights to copy: what is bigger takes longer to write than it saves. */
const LARGEST = 4 * 2 ** 30;

/** Older than any load takes. */
const LEFTOVER_MS = 3_600_000;

/** Room that the copy needs: some weights lie in it twice, in two layouts. */
const GROWTH = 2.2;

/**
 * Writes the graph once more with its weights as the kernels of this machine want them, for sessions that map them.
 * The files are gone before the model is ready: nothing is left on disk, in a committed image, or for another machine.
 * @returns undefined where there is no room on a disk for it
 */
export async function shareWeights(
  host: SessionHost,
  { graph, bytes, folder = tmpdir() }: Weights,
): Promise<SharedWeights | undefined> {
  if (!canShare(bytes, folder)) return undefined;
  let dir: string | undefined;
  const unlink = () => dir && rmSync(dir, { recursive: true, force: true });
  try {
    removeLeftovers(folder);
    dir = mkdtempSync(join(folder, scratchOf(process.pid)));
    return { path: await host.writeOptimized(graph, dir), unlink };
  } catch (error) {
    // A read-only file system, or a graph that can't be written: the sessions do without.
    unlink();
    process.stderr.write(`weights are not shared between sessions: ${(error as Error).message}\n`);
    return undefined;
  }
}

/** Whether there is room for a copy of this many bytes of weights. */
export function canShare(bytes: number, folder = tmpdir()): boolean {
  return bytes <= LARGEST && hasRoom(folder, bytes * GROWTH);
}

function hasRoom(dir: string, bytes: number): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(dir);
    return !MEMORY_FILE_SYSTEMS.has(type) && bavail * bsize > bytes;
  } catch {
    // No such folder: a container without a /tmp.
    return false;
  }
}

/** What processes that were killed while loading have left behind. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith(SCRATCH))) {
    const dir = join(folder, name);
    const { mtimeMs = Date.now() } = statSync(dir, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > LEFTOVER_MS) rmSync(dir, { recursive: true, force: true });
  }
}
