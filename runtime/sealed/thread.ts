import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { findMismatch } from './hash-files.js';
import type { HashResult, HashRequest } from './hash-thread.js';

/** Worker thread: hashes files, posts the result, and ends. */
const { files, quietly } = workerData as HashRequest;
// On Linux this sets the priority of this thread only.
if (quietly) setPriority(19);
const port = parentPort!;
port.postMessage({ problem: findMismatch(files) } satisfies HashResult);
