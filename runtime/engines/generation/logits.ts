import type { GenerationSettings } from './settings.js';

/**
 * Changes one row of scores in place before a token is chosen. `ids` is the whole sequence so far, prompt included.
 */
export type LogitsProcessor = (scores: Float32Array, ids: readonly number[]) => void;

/** The processors that the settings ask for, in the order of transformers' _get_logits_processor. */
export function logitsProcessors(settings: GenerationSettings): LogitsProcessor[] {
  const { promptLength, eosTokenIds } = settings;
  const list: LogitsProcessor[] = [];
  if (settings.repetitionPenalty !== 1) list.push(repetitionPenalty(settings.repetitionPenalty));
  if (settings.presencePenalty !== 0 || settings.frequencyPenalty !== 0) {
    list.push(countPenalty(settings.presencePenalty, settings.frequencyPenalty, promptLength));
  }
  if (settings.noRepeatNgramSize > 0) list.push(noRepeatNgram(settings.noRepeatNgramSize));
  if (settings.badWords.length > 0) list.push(noBadWords(settings.badWords, eosTokenIds));
  if (settings.minNewTokens > 0) list.push(minNewTokens(promptLength + settings.minNewTokens, eosTokenIds));
  return list;
}

/** Divides positive and multiplies negative scores of every token seen, prompt included (Keskar et al. 2019). */
function repetitionPenalty(penalty: number): LogitsProcessor {
  return (scores, ids) => {
    for (const id of new Set(ids)) {
      const score = scores[id];
      if (score !== undefined) scores[id] = score < 0 ? score * penalty : score / penalty;
    }
  };
}

/** OpenAI's penalties: over generated tokens only, once for presence and per occurrence for frequency. */
function countPenalty(presence: number, frequency: number, promptLength: number): LogitsProcessor {
  return (scores, ids) => {
    const counts = new Map<number, number>();
    for (let i = promptLength; i < ids.length; i++) counts.set(ids[i]!, (counts.get(ids[i]!) ?? 0) + 1);
    for (const [id, count] of counts) scores[id]! -= presence + frequency * count;
  };
}

/** Bans each token that would complete an n-gram that the sequence already holds. */
function noRepeatNgram(size: number): LogitsProcessor {
  return (scores, ids) => {
    if (ids.length + 1 < size) return;
    const tail = ids.slice(ids.length - size + 1);
    for (let start = 0; start + size <= ids.length; start++) {
      if (tail.every((id, i) => ids[start + i] === id)) scores[ids[start + size - 1]!] = -Infinity;
    }
  };
}

/** Bans the last token of each listed sequence where its beginning has just been generated. EOS alone is no bad word. */
function noBadWords(words: number[][], eos: ReadonlySet<number>): LogitsProcessor {
  const banned = words.filter((word) => !(word.length === 1 && eos.has(word[0]!)));
  return (scores, ids) => {
    for (const word of banned) {
      const last = word.at(-1)!;
      const start = ids.length - (word.length - 1);
      const begun = start >= 0 && word.slice(0, -1).every((id, i) => ids[start + i] === id);
      if (begun && last < scores.length) scores[last] = -Infinity;
    }
  };
}

function minNewTokens(minLength: number, eos: ReadonlySet<number>): LogitsProcessor {
  return (scores, ids) => {
    if (ids.length >= minLength) return;
    for (const id of eos) if (id < scores.length) scores[id] = -Infinity;
  };
}
