import { noCandidatesError, type Sampler } from '../search/sampling.js';
import type { GrammarState } from './llguidance/instance.js';

/** The grammar of one row. */
export interface RowGrammar {
  /** Chooses a token that may come next. @param scores after all processors; they may change */
  choose(scores: Float32Array, sample: Sampler): number;
  /** True when nothing may follow. */
  readonly complete: boolean;
}

/**
 * @param state moved by the tokens that are chosen; released by who made it
 * @param greedy true: the best token is tried before all others are looked at. What draws among a part of the tokens has to
 * know first which of them are allowed.
 * @param forcesFirst true: the first token is forced, leaves no text, and stands before the grammar
 */
export function createRowGrammar(
  state: GrammarState,
  { greedy, ends, forcesFirst }: { greedy: boolean; ends: ReadonlySet<number>; forcesFirst: boolean },
): RowGrammar {
  let complete = false;
  let forced = forcesFirst;
  return {
    choose(scores, sample) {
      if (forced) {
        forced = false;
        return sample(scores);
      }
      let id = greedy ? sample(scores) : undefined;
      if (id === undefined || !state.allows(id)) {
        state.restrict(scores);
        id = sample(scores);
      }
      // Other parameters have banned all that the grammar allows.
      if (!(scores[id]! > -Infinity)) throw noCandidatesError();
      if (ends.has(id)) return id;
      state.consume(id);
      complete = state.complete;
      return id;
    },
    get complete() {
      return complete;
    },
  };
}
