import { type LogitsProcessor, banTokens } from './logits-processor.js';
import { sequenceBias } from './sequence-bias.js';
import { encoderNoRepeatNgram, noRepeatNgram } from './ngrams.js';
import { countPenalty, encoderRepetitionPenalty, repetitionPenalty } from './penalties.js';
import type { GenerationSettings } from '../settings/settings.js';

/** The processors that the settings ask for, in the order of transformers' _get_logits_processor. */
export function createLogitsProcessors(settings: GenerationSettings): LogitsProcessor[] {
  const { promptLength, sourceTokens } = settings;
  const list: LogitsProcessor[] = [];
  if (settings.logitBias.length > 0) list.push(sequenceBias(settings.logitBias));
  if (settings.sequenceBias.length > 0) list.push(sequenceBias(settings.sequenceBias));
  if (settings.encoderRepetitionPenalty !== 1) {
    list.push(encoderRepetitionPenalty(settings.encoderRepetitionPenalty, sourceTokens));
  }
  if (settings.repetitionPenalty !== 1) {
    list.push(repetitionPenalty(settings.repetitionPenalty, promptLength));
  }
  if (settings.presencePenalty !== 0 || settings.frequencyPenalty !== 0) {
    list.push(countPenalty(settings.presencePenalty, settings.frequencyPenalty, promptLength));
  }
  if (settings.noRepeatNgramSize > 0) list.push(noRepeatNgram(settings.noRepeatNgramSize));
  if (settings.encoderNoRepeatNgramSize > 0) {
    list.push(encoderNoRepeatNgram(settings.encoderNoRepeatNgramSize, sourceTokens));
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

const FLOAT32_MAX = (2 - 2 ** -23) * 2 ** 127;

/** Infinite scores become finite, NaN becomes 0. */
const removeInvalidValues: LogitsProcessor = (scores) => {
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i]!;
    scores[i] = Number.isNaN(score) ? 0 : Math.max(-FLOAT32_MAX, Math.min(FLOAT32_MAX, score));
  }
};

/** Allows only these tokens where the sequence has this length. */
function forceTokens(tokens: number[], length: number): LogitsProcessor {
  return (scores, ids) => {
    if (ids.length !== length) return;
    scores.fill(-Infinity);
    for (const id of tokens) scores[id] = 0;
  };
}

/**
 * Raises the score of EOS with every token after `start`. A banned EOS becomes NaN in Python, which then counts as the
 * highest score.
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
