import type { Attended } from '../layers/attention.js';
import { type Rotary, turns } from '../layers/rope.js';
import { rotaryFrequencies } from '../layers/rope-frequencies.js';
import { type ResizeMode, resizedTable } from '../layers/patch-embed.js';
import { fromWindows, intoWindows, paddedGrid } from '../layers/window-partition.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';

/**
 * Where the patches of a clip's frames lie: in cells, whose patches become one feature, and the cells in windows where the encoder
 * has some. Windows at the right and lower edges are filled up with zeros, which nobody looks at.
 */
export interface CellGrid {
  /** int64 [1]: steps over time. */
  frames: Value;
  /** int64 [2]: lines and columns of cells. */
  cells: Value;
  /** Edges of a cell in patches, and of a window in cells. */
  merge: number;
  window: number | undefined;
  /** int32, 0 for what fills up: [windows, patches], and [frames, patches]; undefined where nothing does. */
  padding: { windows: Value; frames: Value } | undefined;
  /** Patches of a frame as one row, and of a window as one. */
  byFrame(x: Attended): Attended;
  byWindow(x: Value): Value;
}

interface Edges {
  merge: number;
  window?: number | undefined;
  width: number;
}

/** @param sizes int64 [1, 3]: steps over time, lines and columns of patches @throws GraphError for windows without a cell */
export function cellGrid(g: GraphWriter, sizes: Value, { merge, window, width }: Edges): CellGrid {
  if (window === 0) throw new GraphError('config.json: window_size is less than a cell of patches');
  const flat = g.node('Reshape', [sizes, g.ints([3])]);
  const [frames, patches] = g.nodes('Split', [flat, g.ints([1, 2])], {
    ...{ outputs: 2, attributes: { axis: 0 } },
  }) as [Value, Value];
  const cells = g.node('Div', [patches, g.ints([merge], [])]);
  const inFrames = g.node('Concat', [frames, g.ints([-1, width])], { axis: 0 });
  const inWindows = g.ints(window === undefined ? [] : [-1, (window * merge) ** 2, width]);
  const byFrame = (x: Value) => (window === undefined ? x : g.node('Reshape', [x, inFrames]));
  const grid = {
    ...{ frames, cells, merge, window },
    byFrame: ({ query, key, value }: Attended): Attended => ({
      ...{ query: byFrame(query), key: byFrame(key), value: byFrame(value) },
    }),
    byWindow: (x: Value) => (window === undefined ? x : g.node('Reshape', [x, inWindows])),
  };
  return { ...grid, padding: window === undefined ? undefined : paddingOf(g, grid, window) };
}

type Lines = Pick<CellGrid, 'frames' | 'cells' | 'merge' | 'window'>;

function paddingOf(g: GraphWriter, { frames, cells, merge }: Lines, window: number) {
  const shape = g.node('Concat', [frames, cells, g.ints([merge * merge])], { axis: 0 });
  const ones = g.node('Expand', [g.scalar(1), shape]);
  const found = paddedGrid(g, ones, cells, window);
  const cut = intoWindows(g, found.x, found.grid, { edge: window, width: merge * merge });
  const whole = g.node('Cast', [cut], { to: ELEMENTS.int32 });
  const windows = g.node('Reshape', [whole, g.ints([-1, (window * merge) ** 2])]);
  return {
    windows,
    frames: g.node('Reshape', [windows, g.node('Concat', [frames, g.ints([-1])], { axis: 0 })]),
  };
}

/** Patches, cell by cell, as rows of windows or of frames: float32 [rows, patches, width] of [patches, width]. */
export function inCells(
  g: GraphWriter,
  x: Value,
  { frames, cells, merge, window }: Lines,
  width: number,
): Value {
  if (window === undefined)
    return g.node('Reshape', [x, g.node('Concat', [frames, g.ints([-1, width])], { axis: 0 })]);
  const cell = merge * merge * width;
  const lines = g.node('Reshape', [x, g.node('Concat', [frames, cells, g.ints([cell])], { axis: 0 })]);
  const padded = paddedGrid(g, lines, cells, window);
  const cut = intoWindows(g, padded.x, padded.grid, { edge: window, width: cell });
  return g.node('Reshape', [cut, g.ints([-1, (window * merge) ** 2, width])]);
}

/** The way back, a row for each cell: float32 [cells, width of a cell]. */
export function inOrder(g: GraphWriter, x: Value, { cells, window }: Lines, width: number): Value {
  if (window === undefined) return g.node('Reshape', [x, g.ints([-1, width])]);
  const edge = g.ints([window], []);
  const up = g.node('Div', [g.node('Add', [cells, g.ints([window - 1], [])]), edge]);
  const windows = g.node('Reshape', [x, g.ints([-1, window * window, width])]);
  const lines = fromWindows(g, windows, g.node('Mul', [up, edge]), { edge: window, width });
  const kept = g.node('Slice', [lines, g.ints([0, 0]), cells, g.ints([1, 2])]);
  return g.node('Reshape', [kept, g.ints([-1, width])]);
}

const BASE = 10_000;

/** Angles of patches by their lines and columns, half of a head's pairs each. */
export function patchTurns(g: GraphWriter, grid: Lines, headWidth: number, base = BASE): Rotary {
  const values = frequenciesOf(headWidth, base);
  const axes = [...values.map(() => LINE), ...values.map(() => COLUMN)];
  return turnsBy(g, grid, { axes, frequencies: [...values, ...values] });
}

/** The same where each pair that turns by its column has one behind it that turns by its line. */
export function pairedTurns(g: GraphWriter, grid: Lines, headWidth: number, base = BASE): Rotary {
  const values = frequenciesOf(headWidth, base);
  const axes = values.flatMap(() => [COLUMN, LINE]);
  return turnsBy(g, grid, { axes, frequencies: values.flatMap((value) => [value, value]) });
}

const [LINE, COLUMN] = [0, 1];

/** Of one axis. */
function frequenciesOf(headWidth: number, base: number): readonly number[] {
  if (headWidth % 4 !== 0)
    throw new GraphError(`config.json: heads of the width ${headWidth} can't turn by lines and columns`);
  return rotaryFrequencies({ rope_theta: base, max_position_embeddings: 1 }, headWidth / 2).values;
}

interface Pairs {
  axes: readonly number[];
  frequencies: readonly number[];
}

function turnsBy(g: GraphWriter, grid: Lines, { axes, frequencies }: Pairs): Rotary {
  const half = axes.length;
  const positions = inCells(g, linesAndColumns(g, grid), grid, 2);
  const chosen = g.node('Gather', [positions, g.ints(axes)], { axis: 2 });
  return turns(g, chosen, { frequencies: g.floats(frequencies, [1, 1, half]), half });
}

/** The line and the column of each patch, cell by cell: float32 [patches, 2], for all frames. */
export function linesAndColumns(
  g: GraphWriter,
  { frames, cells, merge }: Pick<CellGrid, 'frames' | 'cells' | 'merge'>,
): Value {
  const counts = g.nodes('Split', [cells, g.ints([1, 1])], { outputs: 2, attributes: { axis: 0 } });
  const inner = g.ints(Array.from({ length: merge }, (_, i) => i));
  const shape = g.node('Concat', [frames, cells, g.ints([merge, merge])], { axis: 0 });
  const both = counts.map((count, axis) => {
    const range = g.node('Range', [g.ints([0], []), g.node('Squeeze', [count]), g.ints([1], [])]);
    const first = g.node('Mul', [range, g.ints([merge], [])]);
    // Axes are frames, lines and columns of cells, lines and columns within them.
    const outer = g.node('Unsqueeze', [first, g.ints(axis === 0 ? [0, 2, 3, 4] : [0, 1, 3, 4])]);
    const within = g.node('Unsqueeze', [inner, g.ints(axis === 0 ? [0, 1, 2, 4] : [0, 1, 2, 3])]);
    const all = g.node('Expand', [g.node('Add', [outer, within]), shape]);
    return g.node('Cast', [g.node('Reshape', [all, g.ints([-1, 1])])], { to: ELEMENTS.float32 });
  });
  return g.node('Concat', both, { axis: 1 });
}

export interface PlaceTable {
  /** float32 [side · side, width] */
  table: Value;
  side: number;
  width: number;
  mode: ResizeMode;
}

/** Vectors of the positions of a frame's patches, from a square table that is resized to its grid: float32 [1, patches, width], cell by cell. */
export function resizedPositions(
  g: GraphWriter,
  { cells, merge }: Pick<CellGrid, 'cells' | 'merge'>,
  { table, side, width, mode }: PlaceTable,
): Value {
  const to = g.node('Mul', [cells, g.ints([merge], [])]);
  const line = g.node('Unsqueeze', [table, g.ints([0])]);
  const positions = resizedTable(g, line, { from: [side, side], to, width, mode });
  const [down, across] = g.nodes('Split', [cells, g.ints([1, 1])], {
    ...{ outputs: 2, attributes: { axis: 0 } },
  }) as [Value, Value];
  const edges = [down, g.ints([merge]), across, g.ints([merge, width])];
  const split = g.node('Reshape', [positions, g.node('Concat', edges, { axis: 0 })]);
  const byCell = g.node('Transpose', [split], { perm: [0, 2, 1, 3, 4] });
  return g.node('Reshape', [byCell, g.ints([1, -1, width])]);
}
