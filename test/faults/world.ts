import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ModelInfo } from '../../runtime/core/spec.js';
import { hubSource } from '../../runtime/store/hub.js';
import { type Hub, startHub } from '../fakes/hub.js';
import { openPool, type Pool } from './processes.js';
import { randomOf } from './random.js';
import { MODELS } from './schedule.js';
import { openSmallDisk, type SmallDisk } from './small-disk.js';
import type { Truth } from './truth.js';

/** Bytes that the hub writes at a time: what may be on its way when a process dies. */
export const CHUNK = 32_768;

export interface World {
  hub: Hub;
  pool: Pool;
  /** A file system that can be filled, or why there is none. */
  disk: SmallDisk | string;
  models: Record<string, { info: ModelInfo; truth: Truth }>;
  /** Counts from now on what the hub sends, and calls `at` once `bytes` have been sent. */
  watch(bytes?: number, at?: () => void): { sent: number; stop(): void };
  /** A new folder, on the small disk if asked for. */
  folder(small: boolean): string;
  close(): Promise<void>;
}

/** A hub with one model of each kind, processes to download with, and a disk that can be full. */
export async function openWorld(): Promise<World> {
  const home = mkdtempSync(join(tmpdir(), 'faults-'));
  const truths = Object.fromEntries(
    Object.keys(MODELS).map((name) => [name, writeModel(join(home, name), name)]),
  );
  let meter = (_bytes: number) => {};
  const hub = await startHub({
    models: Object.fromEntries(Object.keys(MODELS).map((name) => [`org/${name}`, join(home, name)])),
    sending: { chunkBytes: CHUNK, meter: () => meter },
  });
  const models: World['models'] = {};
  for (const [name, truth] of Object.entries(truths))
    models[name] = { info: await hubSource({ endpoint: hub.url }).info(`org/${name}`), truth };
  const disk = openSmallDisk(12);
  const pool = openPool();
  return {
    hub,
    pool,
    disk,
    models,
    watch(bytes = Infinity, at = () => {}) {
      const count = { sent: 0, stop: () => void (at = () => {}) };
      meter = (more) => {
        const before = count.sent;
        count.sent += more;
        if (before < bytes && count.sent >= bytes) at();
      };
      return count;
    },
    folder: (small) => mkdtempSync(join(small && typeof disk === 'object' ? disk.dir : home, 'root-')),
    async close() {
      await pool.close();
      await hub.close();
      if (typeof disk === 'object') disk.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Content that no fault turns into other right content. */
function writeModel(dir: string, name: string): Truth {
  const random = randomOf(name.length);
  const files = Object.entries(MODELS[name]!).map(([path, size]): [string, Buffer] => {
    const content = Buffer.alloc(size);
    for (let at = 0; at + 4 <= size; at += 4) content.writeUInt32LE(random.below(2 ** 32), at);
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
    return [path, content];
  });
  return new Map(files);
}
