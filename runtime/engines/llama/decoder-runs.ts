import { RunError } from '../../core/errors.js';
import { requireLogits } from '../../core/not-finite.js';
import type { Reservation } from '../generation/decoding/cache/cache-budget.js';
import type { LoopOptions, PrefillJob, StepJob } from '../generation/decoding/batch/decode-loop.js';
import type { DecodingRequest, PromptScores } from '../generation/decoding/decoder.js';
import type { BatchToken } from './llama.js';
import type { RowReservation } from './rows.js';
import type { SerialContext } from './serial-context.js';

/** A generation under way. */
export interface Sequence {
  /** Ids of its rows; all of one length. */
  rows: number[];
  /** Tokens that have been computed, of each row. */
  length: number;
  /** Those of the first row; of no use once there were several. */
  tokens: number[];
  /** Gets the scores of the prompt. */
  tell?: PromptScores | undefined;
  /** True where its tokens are not kept for others. */
  isUnkept: boolean;
  reservation: Reservation;
  held: RowReservation;
  request: DecodingRequest;
}

/** The runs of the decode loop over a context. @param outputs most tokens in a run whose scores are wanted */
export function createDecoderRuns(
  context: SerialContext,
  outputs: number,
): Pick<LoopOptions<Sequence>, 'runPrefill' | 'runSteps'> {
  async function runPrefill(job: PrefillJob<Sequence>, part: readonly number[]): Promise<boolean> {
    const { sequence, tokens, resolve, reject } = job;
    const isLast = tokens.length === 0;
    try {
      const { tell } = sequence;
      const most = tell ? outputs : part.length;
      for (let from = 0; from < part.length; from += most) {
        const piece = part.slice(from, from + most);
        const ends = isLast && from + piece.length === part.length;
        const scores = await feed(context, sequence, { piece, ends });
        await tell?.(scores, sequence.length - piece.length);
        if (ends) resolve([requireLogits(scores.at(-1)!)]);
      }
      return !isLast;
    } catch (error) {
      sequence.isUnkept = true;
      reject(error);
      return false;
    }
  }

  async function runSteps(jobs: StepJob<Sequence>[]): Promise<void> {
    const tokens = jobs.flatMap(({ sequence: { rows, length }, tokens: ids }) =>
      rows.map((row, i): BatchToken => ({ id: ids[i]!, position: length, row, output: true })),
    );
    try {
      checkOutcome(await context.run(tokens));
      // Views, which the next run writes over.
      const scores = tokens.map((_, i) => context.scores(i).slice());
      let at = 0;
      for (const job of jobs) settle(job, scores.slice(at, (at += job.sequence.rows.length)));
    } catch (error) {
      for (const { sequence, reject } of jobs) {
        sequence.isUnkept = true;
        reject(error);
      }
    }
  }

  return { runPrefill, runSteps };
}

/**
 * Computes a piece of a prompt; who leaves meanwhile ends the run.
 * @param ends the prompt ends with it, so that its last scores are wanted
 * @returns the scores that are wanted, copied: all where the sequence tells them
 */
async function feed(
  context: SerialContext,
  sequence: Sequence,
  { piece, ends }: { piece: readonly number[]; ends: boolean },
): Promise<Float32Array[]> {
  const { tell, length, rows, request } = sequence;
  const { signal } = request;
  signal.throwIfAborted();
  const isWanted = (i: number) => tell !== undefined || (ends && i === piece.length - 1);
  const tokens = piece.map((id, i): BatchToken => ({
    id,
    position: length + i,
    row: rows[0]!,
    output: isWanted(i),
  }));
  const running = context.run(tokens);
  signal.addEventListener('abort', context.stop);
  try {
    const outcome = await running;
    signal.throwIfAborted();
    checkOutcome(outcome);
  } finally {
    signal.removeEventListener('abort', context.stop);
  }
  sequence.length += piece.length;
  return tokens.flatMap(({ output }, i) => (output ? [context.scores(i).slice()] : []));
}

function checkOutcome(outcome: Awaited<ReturnType<SerialContext['run']>>): void {
  if (outcome === 'done') return;
  throw outcome === 'full'
    ? new RunError('overloaded', 'the cache has no room for more tokens now', { retryAfter: 5 })
    : new RunError('cancelled', 'cancelled');
}

/** Scores that are no numbers fail their own generation only. */
function settle({ sequence, resolve, reject }: StepJob<Sequence>, scores: Float32Array[]): void {
  sequence.length += 1;
  try {
    resolve(scores.map(requireLogits));
  } catch (error) {
    sequence.isUnkept = true;
    reject(error);
  }
}
