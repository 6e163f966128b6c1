/** How a matrix is stored: with a zero point for each block, or with all in the middle. */
export interface PackedFormat {
  bits: 4 | 8;
  /** Columns that share a scale. */
  block: number;
  zeros: boolean;
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

/** Scales are float32. */
const SCALE_BITS = 32;

/** What an operator may give as a budget. */
export const LEAST_BITS = 4.5;
export const MOST_BITS = 8;

/** The level whose name a budget goes by. */
export const levelOf = (budget: number): PackedLevel => (budget < 5.9 ? 4 : budget < 6.6 ? 5 : 6);

/** Bits for each number of the matrices that are no tables, scales and zero points included, which are at least 4.3. */
const BUDGETS: Record<Exclude<PackedLevel, 8>, number> = { 4: 5.5, 5: 6.25, 6: 7 };

/** All matrices of eight bits alike; of four, where nothing is known of the others. */
export const plainFormat = (level: PackedLevel): PackedFormat =>
  level === 8 ? { bits: 8, block: 32, zeros: false } : { bits: 4, block: 32, zeros: true };

/**
 * How much a number of a matrix that is rounded to four bits changes answers, by the names that architectures have for what the matrix
 * makes. Measured part by part on all-MiniLM-L6-v2 (docs/measurements.md): values of attention cost three times what others do, queries
 * and keys a fifth of it. Other networks were not measured so.
 */
const SENSITIVITIES: readonly [RegExp, number][] = [
  [/(?:^|\.)(?:v_proj|v_lin|value|value_proj|v)\.weight$/, 10],
  [/(?:^|\.)(?:q_proj|k_proj|q_lin|k_lin|query|key|query_proj|key_proj|q|k)\.weight$/, 0.56],
  [/./, 2.9],
];

/** Columns of a block of four bits, and the error of a matrix in those; in blocks of 32: 1. */
const FOUR_BITS: readonly (readonly [block: number, error: number])[] = [
  [128, 1.6],
  [64, 1.27],
  [32, 1],
];
const EIGHT_BITS_ERROR = 0.01;

/**
 * The format of each matrix, so that answers lose least within the bits that the level allows. Tables are not in the budget: those
 * that are only looked up lose next to nothing by four bits, and what scores are made with has eight. The same for the same matrices.
 */
export function chooseFormats(
  matrices: readonly MatrixToPack[],
  level: PackedLevel,
  given?: number,
): PackedFormat[] {
  if (level === 8) return matrices.map(() => plainFormat(8));
  const chosen = matrices.map((matrix) => firstFormat(matrix));
  const others = matrices.filter(({ isTable }) => !isTable);
  let left = (given ?? BUDGETS[level]) * numbersIn(others);
  for (const [i, matrix] of matrices.entries())
    if (!matrix.isTable) left -= bitsOf(matrix, chosen[i]!.format);
  const stopped = new Set<number>();
  for (const { index, step } of upgrades(matrices, chosen)) {
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
  return rows * Math.ceil(columns / block) * (block * bits + SCALE_BITS + (zeros ? bits : 0));
}

/** Each with more bits than the one before, in blocks that rows are made of; blocks of 32 are filled up. */
function stepsOf({ columns }: MatrixToPack): Step[] {
  const isWhole = (block: number) => block === 32 || columns % block === 0;
  const fours = FOUR_BITS.filter(([block]) => isWhole(block)).map(([block, error]): Step => ({
    ...{ format: { bits: 4, block, zeros: true }, error },
  }));
  const block = FOUR_BITS.find(([size]) => isWhole(size))![0];
  return [...fours, { format: { bits: 8, block, zeros: false }, error: EIGHT_BITS_ERROR }];
}

function firstFormat(matrix: MatrixToPack): Step {
  const steps = stepsOf(matrix);
  return matrix.isTable && matrix.isMultiplied ? steps.at(-1)! : steps[0]!;
}

interface Upgrade {
  index: number;
  step: Step;
  /** Error that a bit takes away. */
  gain: number;
  /** Layers between it and the nearer end of the network: those at the ends come first. */
  depth: number;
}

function upgrades(matrices: readonly MatrixToPack[], from: readonly Step[]): Upgrade[] {
  const depths = depthsOf(matrices);
  const all = matrices.flatMap((matrix, index) => {
    if (matrix.isTable) return [];
    const sensitivity = SENSITIVITIES.find(([name]) => name.test(matrix.name))![1];
    const steps = stepsOf(matrix);
    return steps.slice(1).map((step, i): Upgrade => {
      const before = i === 0 ? from[index]! : steps[i]!;
      const bits = (bitsOf(matrix, step.format) - bitsOf(matrix, before.format)) / numbersIn([matrix]);
      return { index, step, gain: (sensitivity * (before.error - step.error)) / bits, depth: depths[index]! };
    });
  });
  return all.sort((a, b) => b.gain - a.gain || a.depth - b.depth || a.index - b.index);
}

function depthsOf(matrices: readonly MatrixToPack[]): number[] {
  const layers = matrices.map(({ name }) => Number(/\.(\d+)\./.exec(name)?.[1] ?? 0));
  const last = Math.max(0, ...layers);
  return layers.map((layer) => Math.min(layer, last - layer));
}
