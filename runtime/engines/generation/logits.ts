import type { GenerationSettings } from './settings.js';

/**
 * Changes one row of scores in place before a token is chosen. `ids` is the whole sequence so far, prompt included.
 */
export type LogitsProcessor = (scores: Float32Array, ids: readonly number[]) => void;

/** The processors that the settings ask for, in the order of transformers' _get_logits_processor. */
export function logitsProcessors(settings: GenerationSettings): LogitsProcessor[] {
  const { promptLength, eosTokenIds } = settings;
  const list: LogitsProcessor[] = [];
  if (settings.sequenceBias.length > 0) list.push(sequenceBias(settings.sequenceBias));
  if (settings.repetitionPenalty !== 1) list.push(repetitionPenalty(settings.repetitionPenalty));
  if (settings.presencePenalty !== 0 || settings.frequencyPenalty !== 0) {
    list.push(countPenalty(settings.presencePenalty, settings.frequencyPenalty, promptLength));
  }
  if (settings.noRepeatNgramSize > 0) list.push(noRepeatNgram(settings.noRepeatNgramSize));
  if (settings.badWords.length > 0) list.push(noBadWords(settings.badWords, eosTokenIds));
  if (settings.minNewTokens > 0) list.push(minNewTokens(promptLength + settings.minNewTokens, eosTokenIds));
  return [...list, ...forcing(settings)];
}

function forcing(settings: GenerationSettings): LogitsProcessor[] {
  const { promptLength, eosTokenIds } = settings;
  const list: LogitsProcessor[] = [];
  if (settings.forcedBos !== undefined) list.push(forced([settings.forcedBos], 1));
  if (settings.forcedEos.length > 0) {
    list.push(forced(settings.forcedEos, promptLength + settings.maxNewTokens - 1));
  }
  if (settings.decayLengthPenalty) {
    const [start, factor] = settings.decayLengthPenalty;
    list.push(decayingLength({ start: start + promptLength, factor, eos: eosTokenIds }));
  }
  if (settings.suppressTokens.length > 0) list.push((scores) => ban(scores, settings.suppressTokens));
  if (settings.beginSuppressTokens.length > 0) {
    const begin = promptLength > 1 || settings.forcedBos === undefined ? promptLength : promptLength + 1;
    list.push((scores, ids) => {
      if (ids.length === begin) ban(scores, settings.beginSuppressTokens);
    });
  }
  return list;
}

function ban(scores: Float32Array, ids: Iterable<number>): void {
  for (const id of ids) if (id < scores.length) scores[id] = -Infinity;
}

/** Lets nothing but these tokens through when the sequence has this length. */
function forced(tokens: number[], length: number): LogitsProcessor {
  return (scores, ids) => {
    if (ids.length !== length) return;
    scores.fill(-Infinity);
    for (const id of tokens) scores[id] = 0;
  };
}

/** Raises EOS more with every token after `start`. */
function decayingLength(rule: { start: number; factor: number; eos: ReadonlySet<number> }): LogitsProcessor {
  return (scores, ids) => {
    if (ids.length <= rule.start) return;
    const gain = rule.factor ** (ids.length - rule.start) - 1;
    for (const id of rule.eos) scores[id]! += Math.abs(scores[id]!) * gain;
  };
}

/** Adds to the score of a sequence's last token where the tokens before it have just come. */
function sequenceBias(rows: [number[], number][]): LogitsProcessor {
  return (scores, ids) => {
    for (const [sequence, bias] of rows) {
      const last = sequence.at(-1)!;
      if (completes(sequence, ids) && last < scores.length) scores[last]! += bias;
    }
  };
}

/** True where the sequence, less its last token, is the end of `ids`. Shorter `ids` never match, as in Python. */
function completes(sequence: readonly number[], ids: readonly number[]): boolean {
  if (sequence.length > 1 && sequence.length > ids.length) return false;
  const start = ids.length - (sequence.length - 1);
  return sequence.slice(0, -1).every((id, i) => ids[start + i] === id);
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
      if (completes(word, ids)) ban(scores, word.slice(-1));
    }
  };
}

function minNewTokens(minLength: number, eos: ReadonlySet<number>): LogitsProcessor {
  return (scores, ids) => {
    if (ids.length >= minLength) return;
    ban(scores, eos);
  };
}
