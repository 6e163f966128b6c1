import { float } from '../writer/attributes.js';
import { blocksOf } from '../writer/packed-layout.js';
import { type GraphWriter, MICROSOFT, type PackedMatrix, type Value } from '../writer/graph-writer.js';

/** Sizes of a linear layer: what comes in, and what goes out. */
export interface LinearSize {
  from: number;
  to: number;
}

export interface LinearOptions extends LinearSize {
  /** False where the layer has no bias; `if present` where repositories differ. */
  bias?: boolean | 'if present';
  /** As in MatrixSize. */
  isExact?: boolean;
}

/**
 * torch's Linear, whose weight is [to, from]: read in place, without a transposed copy.
 * @param x float32 [..., from]
 * @returns float32 [..., to]
 */
export function linear(
  g: GraphWriter,
  x: Value,
  name: string,
  { from, to, bias = true, isExact = false }: LinearOptions,
): Value {
  const product = multiplied(g, x, `${name}.weight`, { rows: to, columns: from, isExact });
  const has = bias === 'if present' ? g.weights.has(`${name}.bias`) : bias;
  return has ? g.node('Add', [product, g.weight(`${name}.bias`, [to])]) : product;
}

export interface MatrixSize {
  rows: number;
  columns: number;
  /** A table of tokens or answers. */
  isTable?: boolean;
  /** Stored as [columns, rows]. */
  transposed?: boolean;
  /** Never packed here: what it decides is a choice, and it is small. */
  isExact?: boolean;
}

/** x · Wᵀ for a matrix W [rows, columns] of the checkpoint: float32 [..., columns] -> [..., rows]. */
export function multiplied(
  g: GraphWriter,
  x: Value,
  name: string,
  { rows, columns, isTable = false, transposed = false, isExact = false }: MatrixSize,
): Value {
  const packed = g.packed(name, [rows, columns], { kind: 'matrix', isTable, transposed, isExact });
  if (packed) return packedProduct(g, x, packed, { N: rows, K: columns });
  if (transposed) return g.node('MatMul', [x, g.weight(name, [columns, rows])]);
  return matMulTransposed(g, x, g.weight(name, [rows, columns]));
}

function packedProduct(
  g: GraphWriter,
  x: Value,
  { data, rest, scales, zeros, order, offsets, isRepacked, bits, block }: PackedMatrix,
  size: { N: number; K: number },
): Value {
  const ordered = order === undefined ? x : g.node('Gather', [x, order], { axis: -1 });
  // What another tool has packed is multiplied as its own library does it, in floats.
  const level = isRepacked ? {} : { accuracy_level: INT8 };
  const attributes = { ...size, bits, block_size: block, ...level };
  const by = (integers: Value) => {
    const inputs = [ordered, integers, scales, ...(zeros === undefined ? [] : [zeros])];
    return g.node('MatMulNBits', inputs, attributes, MICROSOFT);
  };
  const product = rest === undefined ? by(data) : g.node('Add', [by(data), by(rest)]);
  if (offsets === undefined) return product;
  const sums = inputSums(g, ordered, { blocks: blocksOf(size.K, block), block });
  const more = g.node('Reshape', [matMulTransposed(g, sums, offsets), g.node('Shape', [product])]);
  return g.node('Add', [product, more]);
}

interface Blocked {
  blocks: number;
  block: number;
}

/** What is added to the numbers of a block is multiplied with the sum of its inputs: float32 [..., columns] -> [rows, blocks]. */
function inputSums(g: GraphWriter, x: Value, { blocks, block }: Blocked): Value {
  const parts = g.node('Reshape', [x, g.ints([-1, blocks, block])]);
  return g.node('ReduceSum', [parts, g.ints([-1])], { keepdims: 0 });
}

/** Rows of a table with what is added to the numbers of each block: float32 [..., columns] and [..., blocks]. */
function shiftedRows(g: GraphWriter, rows: Value, offsets: Value, { blocks, block }: Blocked): Value {
  const parts = g.node('Reshape', [rows, g.ints([-1, blocks, block])]);
  const shifted = g.node('Add', [parts, g.node('Reshape', [offsets, g.ints([-1, blocks, 1])])]);
  return g.node('Reshape', [shifted, g.node('Shape', [rows])]);
}

/** accuracy_level of MatMulNBits: activations are rounded to int8 by blocks of each row, whatever rows are beside it. */
const INT8 = 4;

/** `scale` x · yᵀ over the last two axes. */
export function matMulTransposed(g: GraphWriter, x: Value, y: Value, scale = 1): Value {
  return g.node('FusedMatMul', [x, y], { transB: 1, alpha: float(scale) }, MICROSOFT);
}

export interface TableSize {
  rows: number;
  width: number;
  /** True where the scores are made with the table of the tokens; a file may hold the scores' own all the same. */
  tie: boolean;
}

/** Scores over a vocabulary: x · tableᵀ, float32 [..., rows]. */
export function tableScores(
  g: GraphWriter,
  x: Value,
  { own, tied }: { own: string; tied: string },
  { rows, width, tie }: TableSize,
): Value {
  const name = tie ? tied : own;
  return multiplied(g, x, name, { rows, columns: width, isTable: true });
}

/** GPT-2's Conv1D, whose weight is [from, to]. */
export function conv1d(g: GraphWriter, x: Value, name: string, { from, to }: LinearSize): Value {
  const product = multiplied(g, x, `${name}.weight`, { rows: to, columns: from, transposed: true });
  return g.node('Add', [product, g.weight(`${name}.bias`, [to])]);
}

/** Rows of the table `name`.weight at these ids: int64 [...] -> float32 [..., width]. */
export function embedding(
  g: GraphWriter,
  ids: Value,
  name: string,
  size: { rows: number; width: number },
): Value {
  return lookedUp(g, ids, `${name}.weight`, size);
}

/** Rows of a table at these ids: int64 [...] -> float32 [..., width]. */
export function lookedUp(
  g: GraphWriter,
  ids: Value,
  name: string,
  { rows, width }: { rows: number; width: number },
): Value {
  const packed = g.packed(name, [rows, width], { kind: 'table', isTable: true, transposed: false });
  if (!packed) return g.rows(name, [rows, width], ids);
  const { data, scales, zeros, bits, block, offsets } = packed;
  const attributes = { gather_axis: 0, quantize_axis: 1, block_size: block, bits };
  const inputs = [data, ids, scales, ...(zeros === undefined ? [] : [zeros])];
  const found = g.node('GatherBlockQuantized', inputs, attributes, MICROSOFT);
  if (offsets === undefined) return found;
  const added = g.node('Gather', [offsets, ids]);
  return shiftedRows(g, found, added, { blocks: blocksOf(width, block), block });
}
