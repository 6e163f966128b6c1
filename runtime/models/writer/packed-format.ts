/** How a matrix is stored: with a zero point for each block, or with all in the middle. */
export interface PackedFormat {
  bits: 4 | 8;
  /** Columns that share a scale. */
  block: number;
  zeros: boolean;
}

export interface MatrixToPack {
  /** It holds a vector for each token. */
  isTable: boolean;
  /** Of the tensor. */
  name: string;
  columns: number;
  /** Inputs are multiplied with it, too, where it is a table. */
  isMultiplied: boolean;
}

/** Larger blocks are up to a fifth faster, and three times as far from the weights. */
const BLOCK = 32;

/**
 * What makes the values of attention and what follows them, by the names that architectures have for it. In all-MiniLM-L6-v2 four bits in
 * the values cost three times what they cost elsewhere, for each number; in what follows as much as in the feed-forward part, but it is
 * small. Other networks were not measured part by part (docs/measurements.md).
 */
const SENSITIVE = new RegExp(
  [
    String.raw`(?:^|\.)(?:v_proj|v_lin|value|value_proj|v)\.weight$`,
    String.raw`(?:^|\.)(?:o_proj|out_proj|out_lin|o)\.weight$`,
    String.raw`(?:attention|attn)\.(?:output\.)?(?:dense|c_proj)\.weight$`,
  ].join('|'),
);

/**
 * How a matrix is packed where so many bits are asked for. Eight: all alike. Four: tables that are only looked up lose next to
 * nothing by four bits; what answers are scored with, and what is sensitive, has eight with a scale for more numbers.
 */
export function formatOf(matrix: MatrixToPack, bits: 4 | 8): PackedFormat {
  if (bits === 8) return { bits, block: BLOCK, zeros: false };
  const { name, columns, isTable, isMultiplied } = matrix;
  const isScored = isTable && isMultiplied;
  if (isScored || SENSITIVE.test(name)) return { bits: 8, block: largestBlock(columns), zeros: false };
  return { bits: 4, block: BLOCK, zeros: true };
}

const largestBlock = (columns: number): number => [128, 64].find((block) => columns % block === 0) ?? BLOCK;
