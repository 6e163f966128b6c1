import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { findMismatch } from './hash-files.js';
import type { HashResult, HashRequest } from './hash-thread.js';

/** Worker thread: hashes what it is given, says what is wrong, and ends. */
const { files, quietly } = workerData as HashRequest;
// Of this thread alone: Linux has a priority for each.
if (quietly) setPriority(19);
const port = parentPort!;
port.postMessage({ problem: findMismatch(files) } satisfies HashResult);
