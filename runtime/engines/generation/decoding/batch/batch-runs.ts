import type { Reservation } from '../cache/cache-budget.js';
import type { Batches } from './batches.js';
import type { LoopOptions, PromptJob, StepJob } from './decode-loop.js';
import type { Need } from '../decoder.js';
import { appended, type SequenceCache } from '../cache/kv-cache.js';
import type { KvRows, Row } from '../cache/batch-cache.js';
import type { StepSession } from './step-session.js';

/** A generation: first one sequence that is being fed its prompt, then rows of a batch. */
export interface Sequence {
  /** Until it joins a batch. */
  cache: SequenceCache | undefined;
  batch: KvRows | undefined;
  rows: Row[];
  /** Tokens that it has seen; those of the first row, once there are more. */
  seen: number[];
  /** True once it has been more than one row. */
  branched: boolean;
  reserved: Reservation;
  need: Need;
}

/** The runs of the decode loop over the session. */
export function createBatchRuns(
  session: StepSession,
  batches: Batches,
): Pick<LoopOptions<Sequence>, 'runPrompt' | 'runSteps'> {
  async function runPrompt(job: PromptJob<Sequence>, part: readonly number[]): Promise<boolean> {
    const { sequence, tokens, resolve, reject } = job;
    try {
      sequence.need.signal.throwIfAborted();
      const { scores, fresh } = await session.prefill(part, sequence.cache!);
      sequence.cache = appended(session.layout, sequence.cache!, fresh);
      if (tokens.length === 0) resolve(scores);
      return tokens.length > 0;
    } catch (error) {
      reject(error);
      return false;
    }
  }

  async function runSteps(jobs: StepJob<Sequence>[]): Promise<void> {
    for (const batch of batches) {
      const own = jobs.filter(({ sequence }) => sequence.batch === batch);
      if (own.length > 0) await runBatch(batch, own);
    }
  }

  /** One token for every row. Rows whose generation is not asking just now come along; their result is dropped. */
  async function runBatch(batch: KvRows, jobs: StepJob<Sequence>[]): Promise<void> {
    try {
      const tokens = batch.rows.map(() => 0);
      for (const { sequence, tokens: next } of jobs) {
        sequence.rows.forEach(({ index }, i) => (tokens[index] = next[i]!));
      }
      batch.makeRoom();
      const { scores, fresh } = await session.step(tokens, batch);
      const rows = jobs.flatMap(({ sequence }) => sequence.rows);
      batch.write(rows, fresh);
      for (const { sequence, resolve } of jobs) resolve(sequence.rows.map(({ index }) => scores[index]!));
    } catch (error) {
      for (const { reject } of jobs) reject(error);
    }
  }

  return { runPrompt, runSteps };
}
