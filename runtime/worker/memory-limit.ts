import { totalmem } from 'node:os';
import { DEFAULTS } from '../core/limits.js';
import type { MemoryLimits } from '../core/load-request.js';
import { type ReadSystemFile, readSystemFile } from './system-file.js';

/** Bytes of memory that the container may use: the cgroup's limit, else the machine's memory. */
export function memoryLimit(read: ReadSystemFile = readSystemFile): number {
  const limits = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes']
    .map((path) => Number(read(path)))
    // No limit is "max" in version 2, and a number larger than any memory in version 1.
    .filter((bytes) => bytes > 0);
  return Math.min(totalmem(), ...limits);
}

/** Memory of the server besides weights and caches. */
const OTHER_BYTES = 512 * 2 ** 20;
const MIN_CACHE_BYTES = 64 * 2 ** 20;

/**
 * Default bytes for KV caches: a quarter of the memory beside the weights, since a batch holds up to as much again in
 * unused slots and every step copies some of it.
 */
export function cacheBytesFor(weightBytes: number, limit = memoryLimit()): number {
  return Math.max(MIN_CACHE_BYTES, Math.floor((limit - 1.3 * weightBytes - OTHER_BYTES) / 4));
}

/**
 * Default bytes for request bodies held at the same time: a small part of the memory, but enough for one body of the
 * largest size.
 */
export function pendingBytesFor(maxBodyBytes: number, limit = memoryLimit()): number {
  return Math.min(DEFAULTS.maxPendingBytes, Math.max(maxBodyBytes, Math.floor(limit / 32)));
}

/** A body is held three times: as received, as text, and as sent to the engine. */
const BODY_COPIES = 3;

/** Memory limits that the engine has to respect. */
export function memoryFor(pendingBytes: number, limit = memoryLimit()): MemoryLimits {
  return { limit, bodies: BODY_COPIES * pendingBytes };
}
