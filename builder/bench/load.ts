import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import type { Client, Outcome } from './client.js';

/** How requests come: so many at a time, each followed by the next; or so many a second, whatever the server does. */
export type Load = { concurrency: number } | { rate: number };

export interface LoadOptions {
  /** Requests of this time are sent, but not measured. */
  warmupMs: number;
  /** Ends a run when this long, or this many requests, have been measured. */
  durationMs?: number | undefined;
  requests?: number | undefined;
  signal: AbortSignal;
}

export interface Measured {
  /** Requests that were due after the warm-up, failures included, in the order of their ends. */
  outcomes: Outcome[];
  /** Answers that came within the measured time, also those to requests of the warm-up. */
  answered: number;
  seconds: number;
  /** When the measured time began. */
  from: number;
}

/** Most requests of an open loop under way; those that are due meanwhile wait here, and the wait is theirs. */
export const MOST_OPEN = 1024;

export function runLoad(client: Client, load: Load, options: LoadOptions): Promise<Measured> {
  return 'rate' in load
    ? openLoop(client, load.rate, options)
    : closedLoop(client, load.concurrency, options);
}

async function closedLoop(client: Client, concurrency: number, options: LoadOptions): Promise<Measured> {
  const record = recorder(options);
  const worker = async () => {
    for (;;) {
      const now = performance.now();
      if (!record.take(now)) return;
      record.add(await client.send(now));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return record.measured();
}

/**
 * Sends by a schedule that does not wait for answers, and measures from when a request was due. A server that stands still
 * for a second so delays all requests of that second, and not only the one that it had (coordinated omission).
 */
async function openLoop(client: Client, rate: number, options: LoadOptions): Promise<Measured> {
  const record = recorder(options);
  const begin = performance.now();
  const waiting: number[] = [];
  const open = new Set<Promise<void>>();
  /** Sends what is due, and then what waits for its place. */
  const occupy = async (due: number) => {
    let next: number | undefined = due;
    while (next !== undefined && !options.signal.aborted) {
      record.add(await client.send(next));
      next = waiting.shift();
    }
  };
  const launch = (due: number) => {
    const sent: Promise<void> = occupy(due).finally(() => open.delete(sent));
    open.add(sent);
  };
  for (let i = 0; ; i++) {
    const due = begin + (i * 1000) / rate;
    await until(due);
    if (!record.take(due)) break;
    if (open.size < MOST_OPEN) launch(due);
    else waiting.push(due);
  }
  while (open.size > 0) await Promise.race(open);
  return record.measured();
}

/** Timers are exact to a millisecond; the rest is waited for in turns of the event loop. */
async function until(due: number): Promise<void> {
  const left = due - performance.now();
  if (left > 2) await sleep(left - 2);
  while (performance.now() < due) await turn();
}

function recorder({ warmupMs, durationMs, requests, signal }: LoadOptions) {
  const from = performance.now() + warmupMs;
  const end = durationMs === undefined ? Infinity : from + durationMs;
  const outcomes: Outcome[] = [];
  let [taken, answered, last] = [0, 0, from];
  return {
    /** False when no more requests are to be sent. @param due of the next */
    take(due: number): boolean {
      if (signal.aborted || due >= end) return false;
      if (due < from) return true;
      return requests === undefined || ++taken <= requests;
    },
    add(outcome: Outcome): void {
      if (outcome.ended >= from && outcome.ended <= end) {
        answered += Number(outcome.ok);
        last = outcome.ended;
      }
      if (outcome.due >= from) outcomes.push(outcome);
    },
    measured(): Measured {
      const seconds = ((durationMs === undefined ? last : end) - from) / 1000;
      return { outcomes, answered, seconds, from };
    },
  };
}
