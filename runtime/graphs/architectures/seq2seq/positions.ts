import { placesBehindPadding, placesOf } from '../../blocks/text-inputs.js';
import { sinusoids } from '../../blocks/sinusoids.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import type { BartLike } from './bart-like.js';

type Positions = BartLike['positions'];

/** int64 [tokens]: places after the former tokens. */
function placesAfter(g: GraphWriter, ids: Value, pastTokens: Value | undefined): Value {
  const own = placesOf(g, ids);
  return pastTokens === undefined ? own : g.node('Add', [own, pastTokens]);
}

/** A table for each side, which begins with rows that no position has. */
export const learned =
  ({ rows, width, offset }: { rows: number; width: number; offset: number }): Positions =>
  (g, ids, side, pastTokens) => {
    const table = g.weight(`model.${side}.embed_positions.weight`, [rows + offset, width]);
    const places = placesAfter(g, ids, pastTokens);
    const lines = offset === 0 ? places : g.node('Add', [places, g.ints([offset], [])]);
    return g.node('Unsqueeze', [g.node('Gather', [table, lines]), g.ints([0])]);
  };

/** Marian's and Pegasus' sines and cosines. */
export const sines =
  (width: number): Positions =>
  (g, ids, _side, pastTokens) => {
    const found = sinusoids(g, placesAfter(g, ids, pastTokens), width, (i) => 10_000 ** ((-2 * i) / width));
    return g.node('Unsqueeze', [found, g.ints([0])]);
  };

/** The same, where a checkpoint may have them as a table. */
export const storedSines =
  ({ rows, width }: { rows: number; width: number }): Positions =>
  (g, ids, side, pastTokens) => {
    const isStored = g.weights.has(`model.${side}.embed_positions.weight`);
    const positions = isStored ? learned({ rows, width, offset: 0 }) : sines(width);
    return positions(g, ids, side, pastTokens);
  };

/** M2M100's: positions count from the padding's id on and skip padding, which has none. */
export const sinesBehindPadding =
  (width: number, padId: number): Positions =>
  (g, ids, _side, pastTokens) => {
    const own = placesBehindPadding(g, ids, padId);
    const isText = g.node('Greater', [own, g.ints([padId], [])]);
    const moved = pastTokens === undefined ? own : g.node('Add', [own, pastTokens]);
    const step = Math.log(10_000) / (width / 2 - 1);
    const found = sinusoids(g, moved, width, (i) => Math.exp(-i * step));
    return g.node('Where', [g.node('Unsqueeze', [isText, g.ints([2])]), found, g.scalar(0)]);
  };
