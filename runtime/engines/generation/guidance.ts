import type { Decoding } from './decoding/decoder.js';
import { logSoftmax } from './search/log-softmax.js';

export interface Guided {
  prompt: readonly number[];
  /** More than 1 moves away from what would come without the prompt. */
  scale: number;
  /** Begins with one row that has seen nothing; called twice. */
  start(): Promise<Decoding>;
}

/**
 * Classifier-free guidance as transformers does it: beside the text runs another one, which begins with the last token of
 * the prompt. Scores are log-probabilities, those of the text moved away from the other one's.
 */
export async function startGuided({ prompt, scale, start }: Guided): Promise<Decoding> {
  const decoding = await start();
  const free = await start().catch((error: unknown) => {
    decoding.end();
    throw error;
  });
  let fed = 0;
  return {
    resume(tokens) {
      fed = decoding.resume?.(tokens) ?? 0;
      return fed;
    },
    async step(rows) {
      const scores = await decoding.step(rows);
      fed += rows[0]!.length;
      if (fed < prompt.length) return scores;
      const others = await free.step(fed === prompt.length ? [[prompt.at(-1)!]] : rows);
      return scores.map((row, i) => moved(logSoftmax(row), logSoftmax(others[i]!), scale));
    },
    reorder(from) {
      decoding.reorder(from);
      free.reorder(from);
    },
    end() {
      decoding.end();
      free.end();
    },
  };
}

function moved(scores: Float32Array, others: Float32Array, scale: number): Float32Array {
  return scores.map((score, id) => scale * (score - others[id]!) + others[id]!);
}
