import { type LogitsProcessor, banTokens } from './logits-processor.js';
import { sequenceBias } from './biases.js';
import { encoderNoRepeatNgram, noRepeatNgram } from './ngrams.js';
import { countPenalty, encoderRepetitionPenalty, repetitionPenalty } from './penalties.js';
import type { GenerationSettings } from '../settings/settings.js';

export type { LogitsProcessor } from './logits-processor.js';

/** The processors that the settings ask for, in the order of transformers' _get_logits_processor. */
export function createLogitsProcessors(settings: GenerationSettings): LogitsProcessor[] {
  const { promptLength, sourceTokens: source } = settings;
  const list: LogitsProcessor[] = [];
  if (settings.logitBias.length > 0) list.push(sequenceBias(settings.logitBias));
  if (settings.sequenceBias.length > 0) list.push(sequenceBias(settings.sequenceBias));
  if (settings.encoderRepetitionPenalty !== 1) {
    list.push(encoderRepetitionPenalty(settings.encoderRepetitionPenalty, source));
  }
  if (settings.repetitionPenalty !== 1) {
    list.push(repetitionPenalty(settings.repetitionPenalty, promptLength));
  }
  if (settings.presencePenalty !== 0 || settings.frequencyPenalty !== 0) {
    list.push(countPenalty(settings.presencePenalty, settings.frequencyPenalty, promptLength));
  }
  if (settings.noRepeatNgramSize > 0) list.push(noRepeatNgram(settings.noRepeatNgramSize));
  if (settings.encoderNoRepeatNgramSize > 0) {
    list.push(encoderNoRepeatNgram(settings.encoderNoRepeatNgramSize, source));
  }
  return [...list, ...endingProcessors(settings), ...forcingProcessors(settings)];
}

function endingProcessors({
  badWords,
  eosTokenIds,
  promptLength,
  minNewTokens,
}: GenerationSettings): LogitsProcessor[] {
  const list: LogitsProcessor[] = [];
  // EOS alone is no bad word.
  const banned = badWords.filter((word) => !(word.length === 1 && eosTokenIds.has(word[0]!)));
  if (banned.length > 0) list.push(sequenceBias(banned.map((word) => [word, -Infinity])));
  if (minNewTokens > 0) {
    const minLength = promptLength + minNewTokens;
    list.push((scores, ids) => {
      if (ids.length < minLength) banTokens(scores, eosTokenIds);
    });
  }
  return list;
}

function forcingProcessors(settings: GenerationSettings): LogitsProcessor[] {
  const { promptLength, eosTokenIds } = settings;
  const list: LogitsProcessor[] = [];
  if (settings.forcedBosTokenId !== undefined) list.push(forceTokens([settings.forcedBosTokenId], 1));
  if (settings.forcedEosTokenIds.length > 0) {
    list.push(forceTokens(settings.forcedEosTokenIds, promptLength + settings.maxNewTokens - 1));
  }
  if (settings.removeInvalid) list.push(removeInvalidValues);
  if (settings.decayLengthPenalty) {
    const [start, factor] = settings.decayLengthPenalty;
    list.push(decayLengthPenalty({ start: start + promptLength, factor, eos: eosTokenIds }));
  }
  if (settings.suppressTokens.length > 0) list.push((scores) => banTokens(scores, settings.suppressTokens));
  if (settings.beginSuppressTokens.length > 0) {
    const begin =
      promptLength > 1 || settings.forcedBosTokenId === undefined ? promptLength : promptLength + 1;
    list.push((scores, ids) => {
      if (ids.length === begin) banTokens(scores, settings.beginSuppressTokens);
    });
  }
  return list;
}

const MOST = (2 - 2 ** -23) * 2 ** 127;

/** No score is infinite, and what is no number is 0. */
const removeInvalidValues: LogitsProcessor = (scores) => {
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i]!;
    scores[i] = Number.isNaN(score) ? 0 : Math.max(-MOST, Math.min(MOST, score));
  }
};

/** Lets nothing but these tokens through when the sequence has this length. */
function forceTokens(tokens: number[], length: number): LogitsProcessor {
  return (scores, ids) => {
    if (ids.length !== length) return;
    scores.fill(-Infinity);
    for (const id of tokens) scores[id] = 0;
  };
}

/**
 * Raises EOS more with every token after `start`. One that may not come gets no number in Python, which it then takes
 * for the highest.
 */
function decayLengthPenalty(rule: {
  start: number;
  factor: number;
  eos: ReadonlySet<number>;
}): LogitsProcessor {
  return (scores, ids) => {
    if (ids.length <= rule.start) return;
    const gain = rule.factor ** (ids.length - rule.start) - 1;
    for (const id of rule.eos) {
      if (id >= scores.length) continue;
      const score = scores[id]! + Math.abs(scores[id]!) * gain;
      scores[id] = Number.isNaN(score) ? Infinity : score;
    }
  };
}
