import { setImmediate as nextTurn } from 'node:timers/promises';

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

export interface PromptJob<Sequence> extends Job<Sequence> {
  /** What is still to be fed. */
  tokens: readonly number[];
}

export interface DecodeLoop<Sequence> {
  /** Feeds a prompt; gives the scores after it. */
  prompt(sequence: Sequence, tokens: readonly number[]): Promise<Float32Array[]>;
  /** Computes the next token, together with all others that ask for theirs. */
  step(sequence: Sequence, tokens: readonly number[]): Promise<Float32Array[]>;
}

export interface LoopOptions<Sequence> {
  /** Feeds a part of a prompt, and settles the job with the last one. False: it is settled. Never rejects. */
  runPrompt(job: PromptJob<Sequence>, part: readonly number[]): Promise<boolean>;
  /** Settles all of these. Never rejects. */
  runSteps(jobs: StepJob<Sequence>[]): Promise<void>;
  /** Most tokens of prompts between two steps: while nobody generates, and while somebody waits for the next token. */
  chunks: { alone: number; among: number };
}

/** While others generate, so many tokens of prompts keep them waiting at a time. */
export const CHUNK_AMONG = 128;

/**
 * Takes turns: the next token of everyone who generates, then a bounded part of the prompts that wait, and so on while
 * there is work. A prompt that is not through goes behind the others. Between runs, messages come in and generations ask
 * for their next token.
 */
export function createDecodeLoop<Sequence>(options: LoopOptions<Sequence>): DecodeLoop<Sequence> {
  const prompts: PromptJob<Sequence>[] = [];
  let steps: StepJob<Sequence>[] = [];
  let turning = false;

  async function turn(): Promise<void> {
    turning = true;
    await nextTurn();
    while (prompts.length > 0 || steps.length > 0) {
      const jobs = steps;
      steps = [];
      if (jobs.length > 0) await options.runSteps(jobs);
      await nextTurn();
      await feedPrompts(jobs.length > 0 ? options.chunks.among : options.chunks.alone);
    }
    turning = false;
  }

  async function feedPrompts(most: number): Promise<void> {
    for (let room = most; room > 0 && prompts.length > 0;) {
      const job = prompts.shift()!;
      const part = job.tokens.slice(0, room);
      room -= part.length;
      job.tokens = job.tokens.slice(part.length);
      if (await options.runPrompt(job, part)) prompts.push(job);
      await nextTurn();
    }
  }

  function submit<J extends Job<Sequence>>(list: () => J[], job: Omit<J, 'resolve' | 'reject'>) {
    return new Promise<Float32Array[]>((resolve, reject) => {
      list().push({ ...job, resolve, reject } as J);
      if (!turning) void turn();
    });
  }

  return {
    prompt: (sequence, tokens) => submit<PromptJob<Sequence>>(() => prompts, { sequence, tokens }),
    step: (sequence, tokens) => submit<StepJob<Sequence>>(() => steps, { sequence, tokens }),
  };
}
