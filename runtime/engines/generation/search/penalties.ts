import type { LogitsProcessor } from './logits-processor.js';

/** Divides positive and multiplies negative scores of every token seen, prompt included (Keskar et al. 2019). */
export function repetitionPenalty(penalty: number, promptLength: number): LogitsProcessor {
  let prompt: Set<number> | undefined;
  return (scores, ids) => {
    prompt ??= distinctTokens(ids, 0, promptLength);
    const generated = distinctTokens(ids, promptLength, ids.length);
    for (const id of prompt) applyPenalty(scores, id, penalty);
    for (const id of generated) if (!prompt.has(id)) applyPenalty(scores, id, penalty);
  };
}

/**
 * The same with the inverse over the tokens that the encoder has read: more than 1 makes them likelier. In a beam search
 * transformers does so for the first beam alone (it has one row of source tokens for all beams), and so do we.
 */
export function encoderRepetitionPenalty(penalty: number, source: readonly number[]): LogitsProcessor {
  const seen = new Set(source);
  return (scores, _ids, beam) => {
    if (beam === 0) for (const id of seen) applyPenalty(scores, id, 1 / penalty);
  };
}

/** OpenAI's penalties: over generated tokens only, once for presence and per occurrence for frequency. */
export function countPenalty(presence: number, frequency: number, promptLength: number): LogitsProcessor {
  return (scores, ids) => {
    const counts = new Map<number, number>();
    for (let i = promptLength; i < ids.length; i++) counts.set(ids[i]!, (counts.get(ids[i]!) ?? 0) + 1);
    for (const [id, count] of counts) scores[id]! -= presence + frequency * count;
  };
}

function applyPenalty(scores: Float32Array, id: number, penalty: number): void {
  const score = scores[id];
  if (score !== undefined) scores[id] = score < 0 ? score * penalty : score / penalty;
}

function distinctTokens(ids: ArrayLike<number>, from: number, to: number): Set<number> {
  const found = new Set<number>();
  for (let i = from; i < to; i++) found.add(ids[i]!);
  return found;
}
