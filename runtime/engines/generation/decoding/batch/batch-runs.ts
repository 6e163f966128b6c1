import { requireLogits } from '../../../../core/not-finite.js';
import type { Reservation } from '../cache/cache-budget.js';
import { gatherRows, requireAll } from '../gather-rows.js';
import type { Batches } from './batches.js';
import type { LoopOptions, PrefillJob, StepJob } from './decode-loop.js';
import type { DecodingRequest, Prompt, PromptScores } from '../decoder.js';
import { appendTokens, type SequenceCache } from '../cache/kv-cache.js';
import type { BatchCache, BatchRow } from '../cache/batch-cache.js';
import type { StepSession } from './step-session.js';

/** A generation: first one sequence while its prompt is fed, then rows of a batch. */
export interface Sequence {
  /** Until it joins a batch. */
  cache: SequenceCache | undefined;
  batch: BatchCache | undefined;
  rows: BatchRow[];
  /** What it began with; without tokens until it is fed. */
  prompt: Prompt;
  /** Gets the scores of the prompt. */
  tell?: PromptScores | undefined;
  /** Tokens that it has been fed, by their keys; those of the first row once there are several. */
  tokens: number[];
  /** True where its tokens are not kept for others: it has been more than one row, or a run of it failed. */
  isUnkept: boolean;
  /** Bytes of a row beside its tokens. */
  fixedBytes: number;
  reservation: Reservation;
  request: DecodingRequest;
}

/** The runs of the decode loop over the session. */
export function createBatchRuns(
  session: StepSession,
  batches: Batches,
): Pick<LoopOptions<Sequence>, 'runPrefill' | 'runSteps'> {
  async function runPrefill(job: PrefillJob<Sequence>, part: readonly number[]): Promise<boolean> {
    const { sequence, tokens, resolve, reject } = job;
    try {
      sequence.request.signal.throwIfAborted();
      const { prompt, cache, tell } = sequence;
      const { scores, all, attention, ...fed } = await session.prefill(
        prompt,
        part.length,
        cache!,
        tell !== undefined,
      );
      sequence.cache = appendTokens(session.layout, cache!, fed);
      if (attention) prompt.attention?.tell(attention, part.length);
      await tell?.(requireAll(all, part.length), cache!.length);
      if (tokens.length === 0) resolve(scores.map(requireLogits));
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

  /** One token for every row. Rows that no job asks for are computed, too, and their result is dropped. */
  async function runBatch(batch: BatchCache, jobs: StepJob<Sequence>[]): Promise<void> {
    try {
      const wanted = jobs.flatMap(({ tokens }) => tokens);
      const embedded = session.embed ? await session.embed(wanted) : undefined;
      // Rows join and leave while one waits: from here to the run nobody does.
      const positions = batch.rows.map(() => 0);
      let next = 0;
      for (const { index } of jobs.flatMap(({ sequence }) => sequence.rows)) positions[index] = next++;
      batch.growIfFull();
      const tokens = {
        ids: positions.map((place) => wanted[place]!),
        embedded: embedded && gatherRows(embedded, positions),
      };
      const { scores, ...fed } = await session.step(tokens, batch);
      const rows = jobs.flatMap(({ sequence }) => sequence.rows);
      batch.append(rows, fed);
      for (const job of jobs) settle(job, scores);
    } catch (error) {
      for (const { reject } of jobs) reject(error);
    }
  }

  /** Scores that are no numbers fail their own generation only. */
  function settle({ sequence, resolve, reject }: StepJob<Sequence>, scores: readonly Float32Array[]): void {
    try {
      resolve(sequence.rows.map(({ index }) => requireLogits(scores[index]!)));
    } catch (error) {
      sequence.isUnkept = true;
      reject(error);
    }
  }

  return { runPrefill, runSteps };
}
