import { totalmem } from 'node:os';
import { DEFAULTS } from '../core/limits.js';
import type { MemoryLimits } from '../core/load-request.js';
import { type ReadSystemFile, readSystemFile } from './system-file.js';

/** Bytes of memory that the container may use: the cgroup's limit, else what the machine has. */
export function memoryLimit(read: ReadSystemFile = readSystemFile): number {
  const limits = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes']
    .map((path) => Number(read(path)))
    // "max" is no number; version 1 writes a number larger than any memory for "no limit".
    .filter((bytes) => bytes > 0);
  return Math.min(totalmem(), ...limits);
}

/** What the server needs beside weights and caches. */
const OTHER_BYTES = 512 * 2 ** 20;
const LEAST_CACHE = 64 * 2 ** 20;

/**
 * Bytes for the caches of generations where the operator sets none: a quarter of what the weights leave, since a batch
 * holds up to as much again in unused places and every step copies some of it.
 */
export function cacheBytesFor(weightBytes: number, limit = memoryLimit()): number {
  return Math.max(LEAST_CACHE, Math.floor((limit - 1.3 * weightBytes - OTHER_BYTES) / 4));
}

/**
 * Bytes of bodies that may be under way where the operator sets none: what one body may have at least, since that has to
 * get through, and a small part of the memory.
 */
export function pendingBytesFor(maxBodyBytes: number, limit = memoryLimit()): number {
  return Math.min(DEFAULTS.maxPendingBytes, Math.max(maxBodyBytes, Math.floor(limit / 32)));
}

/** A body is there as it came, as text, and as what is sent to the engine. */
const BODY_COPIES = 3;

/** What the engine has to keep away from. */
export function memoryFor(pendingBytes: number, limit = memoryLimit()): MemoryLimits {
  return { limit, bodies: BODY_COPIES * pendingBytes };
}
