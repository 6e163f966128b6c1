import {
  type ByteReader,
  contentBytes,
  contentText,
  type Field,
  fieldsOf,
  varint,
} from '../../runtime/onnx/protobuf.js';
import { CONSTANT } from '../../runtime/models/writer/constants.js';

/** A weight tensor of a graph. */
export interface Weight {
  name: string;
  shape: string;
  /** Number of parameters, independent of how they are packed. */
  count: number;
}

/** Element types of weights: float, uint8, int8, float16, double, bfloat16, uint4, int4. */
const WEIGHT_TYPES: ReadonlySet<number> = new Set([1, 2, 3, 10, 11, 16, 21, 22]);
const UINT8 = 2;
/** Auxiliary tensors of quantized weights, which are not parameters. */
const COMPANION = /(?:_scales?|_zero_points?|_zp|_absmax)$/i;

/**
 * The weights of a graph with their original sizes. Reads shapes but no tensor data. Field numbers are those of
 * onnx.proto.
 * @throws ProtobufError when the bytes are not a graph
 */
export function graphWeights(reader: ByteReader): Weight[] {
  const tensors: Tensor[] = [];
  const packing: Packing = { counts: new Map(), bits: new Map(), companions: new Set() };
  for (const graph of fieldsOf(reader)) {
    if (graph.number !== 7) continue;
    for (const field of fieldsOf(reader, graph.start, graph.end)) {
      if (field.number === 5) tensors.push(readTensor(reader, field));
      if (field.number === 1) notePacking(readNode(reader, field), packing);
    }
  }
  return tensors
    .filter(
      ({ name, type }) =>
        WEIGHT_TYPES.has(type) &&
        !COMPANION.test(name) &&
        !name.startsWith(CONSTANT) &&
        !packing.companions.has(name),
    )
    .map((tensor) => ({
      name: tensor.name,
      shape: tensor.dims.join('x'),
      count: originalCount(tensor, packing),
    }));
}

interface Tensor {
  name: string;
  type: number;
  dims: number[];
}

function readTensor(reader: ByteReader, { start, end }: Field): Tensor {
  const tensor: Tensor = { name: '', type: 0, dims: [] };
  for (const field of fieldsOf(reader, start, end)) {
    if (field.number === 1) tensor.dims.push(...numbers(reader, field));
    else if (field.number === 2) tensor.type = varint(reader, field.start).value;
    else if (field.number === 8) tensor.name = contentText(reader, field);
  }
  return tensor;
}

/** Repeated integers, packed or not. */
function numbers(reader: ByteReader, field: Field): number[] {
  if (field.wire === 0) return [varint(reader, field.start).value];
  const found: number[] = [];
  for (let at = field.start; at < field.end;) {
    const { value, next } = varint(reader, at);
    found.push(value);
    at = next;
  }
  return found;
}

interface Node {
  op: string;
  inputs: string[];
  integers: Record<string, number>;
}

function readNode(reader: ByteReader, { start, end }: Field): Node {
  const node: Node = { op: '', inputs: [], integers: {} };
  for (const field of fieldsOf(reader, start, end)) {
    if (field.number === 1) node.inputs.push(contentText(reader, field));
    else if (field.number === 4) node.op = contentText(reader, field);
    else if (field.number === 5) readInteger(reader, field, node.integers);
  }
  return node;
}

function readInteger(reader: ByteReader, { start, end }: Field, into: Record<string, number>): void {
  let name = '';
  for (const field of fieldsOf(reader, start, end)) {
    if (field.number === 1) name = Buffer.from(contentBytes(reader, field)).toString();
    else if (field.number === 3 && field.wire === 0) into[name] = varint(reader, field.start).value;
  }
}

/** Packing of tensors with several weights per byte, from the nodes that use them. */
interface Packing {
  counts: Map<string, number>;
  bits: Map<string, number>;
  companions: Set<string>;
}

function notePacking({ op, inputs, integers }: Node, packing: Packing): void {
  if (op === 'MatMulNBits' || op === 'MatMulBnb4') {
    packing.counts.set(inputs[1] ?? '', (integers['K'] ?? 0) * (integers['N'] ?? 0));
    for (const name of inputs.slice(2, 4)) packing.companions.add(name);
  }
  if (op === 'GatherBlockQuantized') {
    packing.bits.set(inputs[0] ?? '', integers['bits'] ?? 4);
    for (const name of inputs.slice(2, 4)) packing.companions.add(name);
  }
}

function originalCount({ name, type, dims }: Tensor, { counts, bits }: Packing): number {
  const known = counts.get(name);
  if (known !== undefined) return known;
  const elements = dims.reduce((product, size) => product * size, 1);
  return type === UINT8 ? elements * (8 / (bits.get(name) ?? 8)) : elements;
}
