/** How a matrix is stored: with a zero point for each block, or with all in the middle. */
export interface PackedFormat {
  bits: 4 | 8;
  /** Columns that share a scale. */
  block: number;
  zeros: boolean;
  /** Scales of blocks have eight bits, as parts of a bfloat16 for the whole row. */
  narrow: boolean;
}

/** Bits that an operator asks for a weight, as in the dtype's name. */
export type PackedLevel = 4 | 5 | 6 | 8;

export interface MatrixToPack {
  /** Of the tensor. */
  name: string;
  rows: number;
  columns: number;
  /** It holds a vector for each token. */
  isTable: boolean;
  /** Inputs are multiplied with it, too, where it is a table. */
  isMultiplied: boolean;
}

/** Of the scale of a row, and of that of a block. */
const ROW_SCALE_BITS = 16;
const SCALE_BITS = 8;

/** What an operator may give as a budget. */
export const LEAST_BITS = 4.5;
export const MOST_BITS = 8;

/** The level whose name a budget goes by. */
export const levelOf = (budget: number): PackedLevel => (budget < 5.4 ? 4 : budget < 6.1 ? 5 : 6);

/** Bits for each number of the matrices that are no tables, scales and zero points included, which are at least 4.2. */
const BUDGETS: Record<Exclude<PackedLevel, 8>, number> = { 4: 4.9, 5: 5.7, 6: 6.6 };

/** All matrices of eight bits alike; of four, where nothing is known of the others. */
export const plainFormat = (level: PackedLevel): PackedFormat =>
  level === 8
    ? { bits: 8, block: 32, zeros: false, narrow: false }
    : { bits: 4, block: 32, zeros: true, narrow: true };

/**
 * How much a number of a matrix that is rounded to four bits changes answers, by the names that architectures have for what the matrix
 * makes. Measured part by part on all-MiniLM-L6-v2 and Gemma 3 270M (docs/measurements.md): values of attention cost 4 and 10 times what
 * others do, queries and keys a quarter and three quarters.
 */
const SENSITIVITIES: readonly [RegExp, number][] = [
  [/(?:^|\.)(?:v_proj|v_lin|value|value_proj|v)\.weight$/, 16],
  [/(?:^|\.)(?:q_proj|k_proj|q_lin|k_lin|query|key|query_proj|key_proj|q|k)\.weight$/, 1.4],
  [/./, 2.9],
];

/** Columns of a block of four bits, and the error of a matrix in those; in blocks of 32: 1. */
const FOUR_BITS: readonly (readonly [block: number, error: number])[] = [
  [128, 1.6],
  [64, 1.27],
  [32, 1],
  [16, 0.68],
];
/** Blocks of 16 are for smaller networks: scales are float32 once a graph is open, two bits for each number then. */
const MOST_NUMBERS_IN_16 = 0.5e9;
/** Columns of a block in a table of four bits. */
const TABLE_BLOCK = 64;
/** Part of the numbers of all tables up to which a table is small. */
const SMALL_TABLE = 1 / 16;
const EIGHT_BITS_ERROR = 0.01;

/**
 * The format of each matrix, so that answers lose least within the bits that the level allows. Tables are not in the budget: what
 * scores are made with has eight bits, and so has a small table, since each token reads a row of every table and a small one costs
 * answers no less than a large one; others have four. The same for the same matrices.
 */
export function chooseFormats(
  matrices: readonly MatrixToPack[],
  level: PackedLevel,
  given?: number,
): PackedFormat[] {
  if (level === 8) return matrices.map(() => plainFormat(8));
  const tables = matrices.filter(({ isTable }) => isTable);
  const others = matrices.filter(({ isTable }) => !isTable);
  const smallTable = SMALL_TABLE * numbersIn(tables);
  const chosen = matrices.map((matrix) => firstFormat(matrix, smallTable));
  const leastBlock = numbersIn(matrices) > MOST_NUMBERS_IN_16 ? 32 : 16;
  let left = (given ?? BUDGETS[level]) * numbersIn(others);
  for (const [i, matrix] of matrices.entries())
    if (!matrix.isTable) left -= bitsOf(matrix, chosen[i]!.format);
  const stopped = new Set<number>();
  for (const { index, step } of upgrades(matrices, chosen, leastBlock)) {
    const more = bitsOf(matrices[index]!, step.format) - bitsOf(matrices[index]!, chosen[index]!.format);
    if (more > left || stopped.has(index)) {
      stopped.add(index);
      continue;
    }
    chosen[index] = step;
    left -= more;
  }
  return chosen.map(({ format }) => format);
}

/** A form of a matrix, and the part of the error that it leaves. */
interface Step {
  format: PackedFormat;
  error: number;
}

const numbersIn = (matrices: readonly MatrixToPack[]): number =>
  matrices.reduce((sum, { rows, columns }) => sum + rows * columns, 0);

/** Of the whole matrix. Last blocks of rows are filled up. */
function bitsOf({ rows, columns }: MatrixToPack, { bits, block, zeros }: PackedFormat): number {
  const ofBlock = block * bits + SCALE_BITS + (zeros ? bits : 0);
  return rows * (Math.ceil(columns / block) * ofBlock + ROW_SCALE_BITS);
}

/** Each with more bits than the one before, in blocks that rows are made of; blocks of 32 are filled up. */
function stepsOf({ columns }: MatrixToPack, leastBlock: number): Step[] {
  const isWhole = (block: number) => block === 32 || columns % block === 0;
  const fours = FOUR_BITS.filter(([block]) => block >= leastBlock && isWhole(block)).map(
    ([block, error]): Step => ({
      ...{ format: { bits: 4, block, zeros: true, narrow: true }, error },
    }),
  );
  const block = FOUR_BITS.find(([size]) => isWhole(size))![0];
  const eight = { bits: 8, block, zeros: false, narrow: true } as const;
  return [...fours, { format: eight, error: EIGHT_BITS_ERROR }];
}

function firstFormat(matrix: MatrixToPack, smallTable: number): Step {
  const steps = stepsOf(matrix, 32);
  if (!matrix.isTable) return steps[0]!;
  if (matrix.isMultiplied || numbersIn([matrix]) <= smallTable) return steps.at(-1)!;
  return steps.find(({ format }) => format.block <= TABLE_BLOCK)!;
}

interface Upgrade {
  index: number;
  step: Step;
  /** Error that a bit takes away. */
  gain: number;
}

function upgrades(matrices: readonly MatrixToPack[], from: readonly Step[], leastBlock: number): Upgrade[] {
  const depths = depthsOf(matrices);
  const all = matrices.flatMap((matrix, index) => {
    if (matrix.isTable) return [];
    const kind = SENSITIVITIES.find(([name]) => name.test(matrix.name))![1];
    const sensitivity = kind * depthFactor(depths[index]!);
    const steps = stepsOf(matrix, leastBlock);
    return steps.slice(1).map((step, i): Upgrade => {
      const before = i === 0 ? from[index]! : steps[i]!;
      const bits = (bitsOf(matrix, step.format) - bitsOf(matrix, before.format)) / numbersIn([matrix]);
      return { index, step, gain: (sensitivity * (before.error - step.error)) / bits };
    });
  });
  return all.sort((a, b) => b.gain - a.gain || a.index - b.index);
}

/** From 0 for the first layer to 1 for the last. */
function depthsOf(matrices: readonly MatrixToPack[]): number[] {
  const layers = matrices.map(({ name }) => Number(/\.(\d+)\./.exec(name)?.[1] ?? 0));
  const last = Math.max(1, ...layers);
  return layers.map((layer) => layer / last);
}

/** Errors of late layers cost five times those of early ones in all-MiniLM-L6-v2, and as much in Gemma 3: between both, about 1 in the mean. */
const depthFactor = (depth: number): number => Math.sqrt(0.4 + 1.6 * depth ** 2);
