import { setImmediate as nextTurn } from 'node:timers/promises';
import { countRows } from '../../../batching/row-counts.js';

/** Work of one generation that needs runs of the graph. */
export interface Job<Sequence> {
  sequence: Sequence;
  resolve(scores: Float32Array[]): void;
  reject(error: unknown): void;
}

export interface StepJob<Sequence> extends Job<Sequence> {
  /** The next token of each of its rows. */
  tokens: readonly number[];
}

export interface PrefillJob<Sequence> extends Job<Sequence> {
  /** What is still to be fed. */
  tokens: readonly number[];
}

export interface DecodeLoop<Sequence> {
  /** Feeds a prompt; gives the scores after it. */
  prefill(sequence: Sequence, tokens: readonly number[]): Promise<Float32Array[]>;
  /** Computes the next token, together with all others that ask for theirs. */
  step(sequence: Sequence, tokens: readonly number[]): Promise<Float32Array[]>;
}

export interface LoopOptions<Sequence> {
  /** Feeds a part of a prompt, and settles the job with the last one. False: it is settled. Never rejects. */
  runPrefill(job: PrefillJob<Sequence>, part: readonly number[]): Promise<boolean>;
  /** Settles all of these. Never rejects. */
  runSteps(jobs: StepJob<Sequence>[]): Promise<void>;
  /** Most tokens of prompts between two steps, while nobody waits for a next token and while somebody does. */
  chunks: { idle: number; busy: number };
}

/** Most tokens of prompts between two steps of the generations under way. */
export const BUSY_PREFILL_CHUNK = 128;

/**
 * Alternates while there is work: one step for all generations that wait for their next token, then a bounded part of
 * the prompts that wait. A prompt that is not through goes to the end of the queue. Between runs the event loop turns,
 * so that messages come in and generations ask for their next token.
 */
export function createDecodeLoop<Sequence>(options: LoopOptions<Sequence>): DecodeLoop<Sequence> {
  const prefills: PrefillJob<Sequence>[] = [];
  let steps: StepJob<Sequence>[] = [];
  let running = false;

  async function run(): Promise<void> {
    running = true;
    await nextTurn();
    while (prefills.length > 0 || steps.length > 0) {
      const jobs = steps;
      steps = [];
      if (jobs.length > 0) await runSteps(jobs);
      await nextTurn();
      await runPrefills(jobs.length > 0 ? options.chunks.busy : options.chunks.idle);
    }
    running = false;
  }

  function runSteps(jobs: StepJob<Sequence>[]): Promise<void> {
    countRows(jobs.reduce((rows, { tokens }) => rows + tokens.length, 0));
    return options.runSteps(jobs);
  }

  async function runPrefills(limit: number): Promise<void> {
    for (let room = limit; room > 0 && prefills.length > 0;) {
      const job = prefills.shift()!;
      const part = job.tokens.slice(0, room);
      room -= part.length;
      job.tokens = job.tokens.slice(part.length);
      if (await options.runPrefill(job, part)) prefills.push(job);
      await nextTurn();
    }
  }

  function submit<J extends Job<Sequence>>(list: () => J[], job: Omit<J, 'resolve' | 'reject'>) {
    return new Promise<Float32Array[]>((resolve, reject) => {
      list().push({ ...job, resolve, reject } as J);
      if (!running) void run();
    });
  }

  return {
    prefill: (sequence, tokens) => submit<PrefillJob<Sequence>>(() => prefills, { sequence, tokens }),
    step: (sequence, tokens) => submit<StepJob<Sequence>>(() => steps, { sequence, tokens }),
  };
}
