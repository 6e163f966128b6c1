import { positionsBehindPadding, positionsOf } from '../../layers/text-inputs.js';
import { sinusoids } from '../../layers/sinusoids.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { BartLike, Side } from './bart-decoder.js';

type Positions = BartLike['positions'];

/** int64 [rows or 1, tokens] */
const positionsIn = (g: GraphWriter, ids: Value, given: Value | undefined): Value =>
  given ?? g.node('Unsqueeze', [positionsOf(g, ids), g.ints([0])]);

interface Table {
  /** Positions, of both sides or of each. */
  rows: number | Readonly<Record<Side, number>>;
  width: number;
  /** Rows before those of positions. */
  offset: number;
}

/** A table for each side, which begins with rows that no position has. */
export const learned =
  ({ rows, width, offset }: Table): Positions =>
  (g, ids, side, given) => {
    const own = typeof rows === 'number' ? rows : rows[side];
    const table = g.weight(`model.${side}.embed_positions.weight`, [own + offset, width]);
    const positions = positionsIn(g, ids, given);
    const lines = offset === 0 ? positions : g.node('Add', [positions, g.ints([offset], [])]);
    return g.node('Gather', [table, lines]);
  };

/** Marian's and Pegasus' sines and cosines. */
export const sines =
  (width: number): Positions =>
  (g, ids, _side, given) =>
    sinusoids(g, positionsIn(g, ids, given), width, (i) => 10_000 ** ((-2 * i) / width));

/** The same, where a checkpoint may have them as a table. */
export const storedSines =
  ({ rows, width }: { rows: number; width: number }): Positions =>
  (g, ids, side, given) => {
    const isStored = g.weights.has(`model.${side}.embed_positions.weight`);
    const positions = isStored ? learned({ rows, width, offset: 0 }) : sines(width);
    return positions(g, ids, side, given);
  };

/** How angles grow in fairseq's tables. */
const fairseqFrequency = (width: number) => {
  const step = Math.log(10_000) / (width / 2 - 1);
  return (i: number) => Math.exp(-i * step);
};

/**
 * The same of steps of audio, float32 [steps, width], none of which is padding; undefined where the padding's id is 0, with which
 * Python takes all of them for padding.
 */
export function sinesOfSteps(g: GraphWriter, steps: Value, width: number, padId: number): Value | undefined {
  if (padId === 0) return undefined;
  const places = g.node('Add', [positionsOf(g, steps), g.ints([padId + 1], [])]);
  return sinusoids(g, places, width, fairseqFrequency(width));
}

/** int64 [rows, 1] of [rows, tokens] */
const firstOf = (g: GraphWriter, positions: Value): Value =>
  g.node('Slice', [positions, g.ints([0]), g.ints([1]), g.ints([1])]);

/** M2M100's: positions count from the padding's id on and skip padding, which has none. */
export const sinesBehindPadding =
  (width: number, padId: number): Positions =>
  (g, ids, _side, given) => {
    const own = positionsBehindPadding(g, ids, padId);
    const isText = g.node('Greater', [own, g.ints([padId], [])]);
    const moved = given === undefined ? own : g.node('Add', [own, firstOf(g, given)]);
    const found = sinusoids(g, moved, width, fairseqFrequency(width));
    return g.node('Where', [g.node('Unsqueeze', [isText, g.ints([2])]), found, g.scalar(0)]);
  };
