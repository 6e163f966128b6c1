import { mergeFinished, canImprove, type FinishedBeam } from './finished-beams.js';
import type { Decoding } from '../decoding/decoder.js';
import { logSoftmax, logSumExp } from './log-softmax.js';
import type { LogitsProcessor } from './logits-processor.js';
import { noCandidatesError } from './sampling.js';
import { applyWarpers } from './warpers.js';
import type { GenerationSettings } from '../settings/settings.js';
import type { TextStream } from '../output/text-stream.js';

interface Beam {
  /** The whole sequence, prompt included. */
  ids: Int32Array;
  score: number;
  /** Sum of the logarithms of its tokens' probabilities, where asked for. */
  logprob: number;
  /** The text so far, where stop strings are looked for. */
  text: TextStream | undefined;
}

/** A continuation of a beam. Its sequence is copied only if it is selected. */
interface Candidate {
  /** Row of the beam that it continues. */
  from: number;
  id: number;
  score: number;
  logprob: number;
  text: TextStream | undefined;
  /** Ended by EOS, a stop string or the length. */
  ended: boolean;
}

export interface BeamSearchInput {
  prompt: readonly number[];
  /** Scores after the prompt, one row per beam. */
  scores: Float32Array[];
  decoding: Decoding;
  settings: GenerationSettings;
  processors: LogitsProcessor[];
  /** Uniform numbers in [0, 1): given when candidates are drawn, absent when the best ones are taken. */
  random?: (() => number) | undefined;
  /** The text after the prompt, where stop strings end it. */
  text?: TextStream | undefined;
  /** True: found sequences tell their meanLogprob. */
  tellsMeanLogprob?: boolean | undefined;
  /** Called once per step: throws or returns true to end with what there is. */
  interrupted: () => boolean;
}

export interface FoundBeam {
  /** New tokens. */
  ids: number[];
  meanLogprob: number | undefined;
}

/** Stands for minus infinity in transformers' beam search, whose sums stay finite. */
const WORST_SCORE = -1e9;

/**
 * transformers' GenerationMixin._beam_search (4.57) for one prompt.
 * @returns the best sequences of new tokens, best first, as many as the settings ask for
 */
export async function beamSearch(search: BeamSearchInput): Promise<FoundBeam[]> {
  const { decoding, settings, text } = search;
  const width = settings.numBeams;
  const prompt = Int32Array.from(search.prompt);
  let running: Beam[] = Array.from({ length: width }, (_, i) => ({
    ids: prompt,
    text,
    score: i === 0 ? 0 : WORST_SCORE,
    logprob: 0,
  }));
  let finished: FinishedBeam[] = [];
  let improvable = true;
  let { scores } = search;
  for (let length = 1; ; length++) {
    const candidates = rankContinuations(search, running, scores).map((one) =>
      toCandidate(one, { search, running, length }),
    );
    const state = { length, settings, improvable };
    const top = candidates.slice(0, width).filter(({ ended }) => ended);
    finished = mergeFinished(
      finished,
      top.map((one) => extended(running, one)),
      state,
    );
    const next = selectBeams(candidates, width);
    running = next.map((one) => ({ ...extended(running, one), text: one.text }));
    improvable &&= canImprove(running[0]!.score, finished, state);
    const full = finished.length === width && settings.earlyStopping === true;
    const allEnded = candidates.every(({ ended }) => ended);
    if (!improvable || full || allEnded || search.interrupted()) break;
    decoding.reorder(next.map(({ from }) => from));
    scores = await decoding.step(next.map(({ id }) => id));
  }
  const best = [...finished, ...running].slice(0, settings.numReturnSequences);
  return best.map(({ ids, logprob }) => ({
    ids: [...ids.subarray(prompt.length)],
    meanLogprob: search.tellsMeanLogprob ? logprob / (ids.length - prompt.length) : undefined,
  }));
}

const extended = (running: readonly Beam[], one: Candidate) => ({
  ids: extendBeam(running, one),
  score: one.score,
  logprob: one.logprob,
});

interface StepContext {
  search: BeamSearchInput;
  running: readonly Beam[];
  /** New tokens, this step included. */
  length: number;
}

function toCandidate(one: Continuation, { search, running, length }: StepContext): Candidate {
  const { maxNewTokens, eosTokenIds } = search.settings;
  const text = running[one.from]!.text?.fork();
  text?.push(one.id);
  const ended = length >= maxNewTokens || eosTokenIds.has(one.id) || text?.stopped === true;
  return { ...one, logprob: running[one.from]!.logprob + one.logprob, text, ended };
}

/** The best unfinished candidates. Where there are too few, ended ones fill the batch with a score that never wins. */
function selectBeams(candidates: readonly Candidate[], width: number): Candidate[] {
  const unfinished = candidates.filter(({ ended }) => !ended).sort((a, b) => b.score - a.score);
  const filler = candidates.filter(({ ended }) => ended).map((one) => ({ ...one, score: WORST_SCORE }));
  return [...unfinished.slice(0, width), ...filler].slice(0, width);
}

function extendBeam(beams: readonly Beam[], { from, id }: Candidate): Int32Array {
  const { ids } = beams[from]!;
  const longer = new Int32Array(ids.length + 1);
  longer.set(ids);
  longer[ids.length] = id;
  return longer;
}

interface Continuation {
  from: number;
  id: number;
  score: number;
  /** The logarithm of the token's probability among all, where asked for. */
  logprob: number;
}

/** The continuations to look at: the best ones, best first, or drawn ones, in the order of drawing. */
function rankContinuations(
  search: BeamSearchInput,
  beams: readonly Beam[],
  scores: Float32Array[],
): Continuation[] {
  const { random, settings } = search;
  const keep = Math.max(2, 1 + settings.eosTokenIds.size) * settings.numBeams;
  const ranked: (Omit<Continuation, 'logprob'> & { rank: number })[] = [];
  const rows: Float32Array[] = [];
  const consider = (from: number, id: number, score: number) => {
    // Gumbel noise on the scores makes the best ones a draw without replacement from their softmax.
    const rank = random ? score - Math.log(-Math.log(random())) : score;
    if (ranked.length === keep && rank <= ranked[keep - 1]!.rank) return;
    insert(ranked, { from, id, score, rank });
    if (ranked.length > keep) ranked.pop();
  };
  beams.forEach((beam, from) => {
    const row = logSoftmax(scores[from]!);
    for (const process of search.processors) process(row, beam.ids, from);
    rows.push(row);
    if (random) {
      const left = applyWarpers(row, settings, settings.eosTokenIds.size + 1);
      left.ids.forEach((id, i) => consider(from, id, left.scores[i]! + beam.score));
    } else {
      const last = settings.renormalize ? logSoftmax(row) : row;
      for (let id = 0; id < last.length; id++) consider(from, id, last[id]! + beam.score);
    }
  });
  if (ranked.length === 0) throw noCandidatesError();
  const shifts = search.tellsMeanLogprob ? rows.map(logSumExp) : [];
  return ranked.map((one) => ({
    ...one,
    logprob: search.tellsMeanLogprob ? rows[one.from]![one.id]! - shifts[one.from]! : 0,
  }));
}

function insert<T extends { rank: number }>(list: T[], item: T): void {
  let at = list.length;
  while (at > 0 && list[at - 1]!.rank < item.rank) at--;
  list.splice(at, 0, item);
}
