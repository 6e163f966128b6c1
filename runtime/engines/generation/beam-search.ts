import type { LogitsProcessor } from './logits.js';
import type { Decoding } from './decoder.js';
import { warp } from './sampling.js';
import type { GenerationSettings } from './settings.js';

interface Beam {
  /** Generated tokens, without the prompt. */
  ids: number[];
  score: number;
}

interface Candidate extends Beam {
  /** Row of the beam that it continues. */
  from: number;
  /** Ended by EOS, a stop string or the length. */
  ended: boolean;
}

export interface BeamSearch {
  prompt: readonly number[];
  /** Scores after the prompt, one row per beam. */
  scores: Float32Array[];
  decoding: Decoding;
  settings: GenerationSettings;
  processors: LogitsProcessor[];
  /** Uniform numbers in [0, 1): given when candidates are drawn, absent when the best ones are taken. */
  random?: (() => number) | undefined;
  /** True when generated tokens end the text (EOS, stop string); the length is checked here. */
  ends: (ids: readonly number[]) => boolean;
  /** Called once per step: throws or returns true to end with what there is. */
  interrupted: () => boolean;
}

/** Stands for minus infinity in transformers' beam search, whose sums stay finite. */
const NEVER = -1e9;

/** transformers' GenerationMixin._beam_search (4.57) for one prompt. Gives the best sequence of new tokens. */
export async function beamSearch(search: BeamSearch): Promise<number[]> {
  const { decoding, settings } = search;
  const width = settings.numBeams;
  const keep = Math.max(2, 1 + settings.eosTokenIds.size) * width;
  let running: Beam[] = Array.from({ length: width }, (_, i) => ({ ids: [], score: i === 0 ? 0 : NEVER }));
  let finished: Beam[] = [];
  let improvable = true;
  let scores = search.scores;
  for (let length = 1; ; length++) {
    const candidates = continuations(search, running, scores, keep);
    for (const candidate of candidates) {
      candidate.ended = length >= settings.maxNewTokens || search.ends(candidate.ids);
    }
    finished = mergeFinished(finished, candidates.slice(0, width), { length, settings, improvable });
    const open = candidates
      .filter((candidate) => !candidate.ended)
      .sort((a, b) => b.score - a.score)
      .slice(0, width);
    // Where fewer than `width` are open, ended ones fill the batch with a score that never wins.
    const filler = candidates
      .filter((candidate) => candidate.ended)
      .map((beam) => ({ ...beam, score: NEVER }));
    const next = [...open, ...filler].slice(0, width);
    running = next;
    improvable &&= canImprove(running[0]!.score, finished, { length, settings });
    const full = finished.length === width && settings.earlyStopping === true;
    if (!improvable || full || open.length === 0 || search.interrupted()) break;
    decoding.reorder(next.map((candidate) => candidate.from));
    scores = await decoding.step(next.map((candidate) => [candidate.ids.at(-1)!]));
  }
  return (finished[0] ?? running[0]!).ids;
}

interface Continuation {
  from: number;
  id: number;
  score: number;
}

/** `keep` continuations of all beams: the best ones, best first, or drawn ones, in the order of drawing. */
function continuations(search: BeamSearch, beams: Beam[], scores: Float32Array[], keep: number): Candidate[] {
  const { random, settings } = search;
  const ranked: (Continuation & { rank: number })[] = [];
  const consider = (item: Continuation) => {
    // Gumbel noise on the scores makes the best ones a draw without replacement from their softmax.
    const rank = random ? item.score - Math.log(-Math.log(random())) : item.score;
    if (ranked.length === keep && rank <= ranked.at(-1)!.rank) return;
    insert(ranked, { ...item, rank });
    if (ranked.length > keep) ranked.pop();
  };
  beams.forEach((beam, from) => {
    const row = logSoftmax(scores[from]!);
    const ids = [...search.prompt, ...beam.ids];
    for (const process of search.processors) process(row, ids);
    if (random) {
      const left = warp(row, settings, settings.eosTokenIds.size + 1);
      left.ids.forEach((id, i) => consider({ from, id, score: left.scores[i]! + beam.score }));
    } else {
      const last = settings.renormalize ? logSoftmax(row) : row;
      for (let id = 0; id < last.length; id++) consider({ from, id, score: last[id]! + beam.score });
    }
  });
  return ranked.map(({ from, id, score }) => ({ ids: [...beams[from]!.ids, id], score, from, ended: false }));
}

function insert<T extends { rank: number }>(list: T[], item: T): void {
  let at = list.length;
  while (at > 0 && list[at - 1]!.rank < item.rank) at--;
  list.splice(at, 0, item);
}

function logSoftmax(logits: Float32Array): Float32Array {
  let max = -Infinity;
  for (const value of logits) if (value > max) max = value;
  let sum = 0;
  for (const value of logits) sum += Math.exp(value - max);
  const shift = max + Math.log(sum);
  return logits.map((value) => value - shift);
}

interface Progress {
  /** New tokens so far, this step included. */
  length: number;
  settings: GenerationSettings;
}

/** Only candidates that rank within the beam width may become final; scores are divided by length^penalty. */
function mergeFinished(
  finished: Beam[],
  top: Candidate[],
  state: Progress & { improvable: boolean },
): Beam[] {
  const { length, settings, improvable } = state;
  const full = finished.length === settings.numBeams && settings.earlyStopping === true;
  if (full || !improvable) return finished;
  const added = top
    .filter((candidate) => candidate.ended)
    .map(({ ids, score }) => ({ ids, score: score / length ** settings.lengthPenalty }));
  return [...finished, ...added].sort((a, b) => b.score - a.score).slice(0, settings.numBeams);
}

/** Whether the best running beam could still beat the worst finished one (_check_early_stop_heuristic). */
function canImprove(best: number, finished: Beam[], { length, settings }: Progress): boolean {
  if (finished.length < settings.numBeams) return true;
  const hopeful = settings.earlyStopping === 'never' && settings.lengthPenalty > 0;
  const reach = hopeful ? settings.maxNewTokens : length;
  return best / reach ** settings.lengthPenalty > finished.at(-1)!.score;
}
