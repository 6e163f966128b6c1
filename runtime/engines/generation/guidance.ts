import type { Decoding } from './decoding/decoder.js';
import { logSoftmax } from './search/log-softmax.js';

/**
 * Classifier-free guidance as transformers does it: a second decoding runs beside the first and begins with the
 * last token of the prompt. Scores are log-probabilities; those of the first are moved away from those of the second.
 * @param scale above 1 it moves away from what would come without the prompt
 * @param start starts one row with an empty cache; called twice
 */
export async function startGuidedDecoding(scale: number, start: () => Promise<Decoding>): Promise<Decoding> {
  const decoding = await start();
  const unguided = await start().catch((error: unknown) => {
    decoding.end();
    throw error;
  });
  const guided = (row: Float32Array, other: Float32Array) =>
    guideScores(logSoftmax(row), logSoftmax(other), scale);
  return {
    async prefill(prompt) {
      const scores = await decoding.prefill(prompt);
      return guided(scores, await unguided.prefill({ tokens: prompt.tokens.slice(-1) }));
    },
    async step(tokens) {
      const scores = await decoding.step(tokens);
      const others = await unguided.step(tokens);
      return scores.map((row, i) => guided(row, others[i]!));
    },
    reorder(from) {
      decoding.reorder(from);
      unguided.reorder(from);
    },
    end() {
      decoding.end();
      unguided.end();
    },
  };
}

function guideScores(scores: Float32Array, others: Float32Array, scale: number): Float32Array {
  return scores.map((score, id) => scale * (score - others[id]!) + others[id]!);
}
