import type { Decoding } from './decoding/decoder.js';
import { logSoftmax } from './search/log-softmax.js';

/**
 * Classifier-free guidance as transformers does it: beside the text runs another one, which begins with the last token of
 * the prompt. Scores are log-probabilities, those of the text moved away from the other one's.
 * @param scale more than 1 moves away from what would come without the prompt
 * @param start begins with one row that has seen nothing; called twice
 */
export async function startGuidedDecoding(scale: number, start: () => Promise<Decoding>): Promise<Decoding> {
  const decoding = await start();
  const free = await start().catch((error: unknown) => {
    decoding.end();
    throw error;
  });
  const guided = (row: Float32Array, other: Float32Array) =>
    guideScores(logSoftmax(row), logSoftmax(other), scale);
  return {
    async prefill(prompt) {
      const scores = await decoding.prefill(prompt);
      return guided(scores, await free.prefill({ tokens: prompt.tokens.slice(-1) }));
    },
    async step(tokens) {
      const scores = await decoding.step(tokens);
      const others = await free.step(tokens);
      return scores.map((row, i) => guided(row, others[i]!));
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

function guideScores(scores: Float32Array, others: Float32Array, scale: number): Float32Array {
  return scores.map((score, id) => scale * (score - others[id]!) + others[id]!);
}
