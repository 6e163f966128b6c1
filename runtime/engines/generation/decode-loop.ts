import { setImmediate as nextTurn } from 'node:timers/promises';

/** Work of one generation that needs a run of the graph. */
export interface Job<Sequence> {
  sequence: Sequence;
  /** Next tokens of each of its rows. */
  tokens: number[][];
  resolve(scores: Float32Array[]): void;
  reject(error: unknown): void;
}

export interface DecodeLoop<Sequence> {
  /** Feeds a part of a prompt. */
  prompt(sequence: Sequence, tokens: number[]): Promise<Float32Array[]>;
  /** Computes the next token, together with all others that ask for theirs. */
  step(sequence: Sequence, tokens: number[][]): Promise<Float32Array[]>;
}

export interface LoopRuns<Sequence> {
  /** Both settle their jobs and never reject. */
  runPrompt(job: Job<Sequence>): Promise<void>;
  runSteps(jobs: Job<Sequence>[]): Promise<void>;
}

/**
 * Takes turns: the next token of everyone who generates, then one part of one prompt, and so on while there is work.
 * Parts of several prompts alternate. Between runs, messages come in and generations ask for their next token.
 */
export function createDecodeLoop<Sequence>({
  runPrompt,
  runSteps,
}: LoopRuns<Sequence>): DecodeLoop<Sequence> {
  const prompts: Job<Sequence>[] = [];
  let steps: Job<Sequence>[] = [];
  let turning = false;

  async function turn(): Promise<void> {
    turning = true;
    await nextTurn();
    while (prompts.length > 0 || steps.length > 0) {
      const jobs = steps;
      steps = [];
      if (jobs.length > 0) await runSteps(jobs);
      await nextTurn();
      const job = prompts.shift();
      if (job) await runPrompt(job);
      if (job) await nextTurn();
    }
    turning = false;
  }

  function submit(
    list: 'prompts' | 'steps',
    sequence: Sequence,
    tokens: number[][],
  ): Promise<Float32Array[]> {
    return new Promise((resolve, reject) => {
      (list === 'prompts' ? prompts : steps).push({ sequence, tokens, resolve, reject });
      if (!turning) void turn();
    });
  }

  return {
    prompt: (sequence, tokens) => submit('prompts', sequence, [tokens]),
    step: (sequence, tokens) => submit('steps', sequence, tokens),
  };
}
