import { basename } from 'node:path';
import {
  type ByteReader,
  bytesReader,
  contentBytes,
  contentText,
  type Field,
  fieldsOf,
  packedIntegers,
  varint,
  withFileReader,
  writeField,
  writeNumber,
} from './protobuf.js';

/**
 * An ONNX graph without its weights, to be changed and opened from memory. Field numbers are those of onnx.proto.
 */
export interface Graph {
  nodes: GraphNode[];
  inputs: GraphValue[];
  outputs: GraphValue[];
  /** Contents of TensorProto; large ones say where in the original file they lie. */
  initializers: Uint8Array[];
  /** Fields of the graph and of the model around it that nothing here looks into, with their tags. */
  otherFields: Uint8Array[];
  modelFields: Uint8Array[];
}

export interface GraphNode {
  op: string;
  inputs: string[];
  outputs: string[];
  /** The other fields (name, attributes, domain), with their tags. */
  otherFields: Uint8Array[];
}

/** An input or output of the graph. */
export interface GraphValue {
  name: string;
  /** Content of its TypeProto: element type and shape. */
  type: Uint8Array;
}

/** Weights from this size on stay in the file. */
const LEAST_EXTERNAL = 1024;

/**
 * Reads the structure of the graph at `path`; weights stay where they are and are referred to.
 * @throws ProtobufError when the file is no graph
 */
export function readGraph(path: string): Graph {
  return withFileReader(path, (reader) => readModel(reader, basename(path)));
}

/** As readGraph, for a graph in memory: what it holds itself stays in it. */
export function readGraphBytes(bytes: Uint8Array): Graph {
  return readModel(bytesReader(bytes));
}

/** @param file where large tensors are left */
function readModel(reader: ByteReader, file?: string): Graph {
  const graph: Graph = {
    ...{ nodes: [], inputs: [], outputs: [], initializers: [] },
    ...{ otherFields: [], modelFields: [] },
  };
  for (const field of fieldsOf(reader)) {
    if (field.number === 7) readGraphFields({ reader, graph, file }, field);
    else graph.modelFields.push(whole(reader, field));
  }
  return graph;
}

/** The graph as a model of its own, small enough for memory: its large weights lie in the original's folder. */
export function writeGraph(graph: Graph): Uint8Array {
  return Buffer.concat([...graph.modelFields, writeField(7, Buffer.concat(graphFields(graph)))]);
}

/** The graph's fields of GraphProto. */
export function graphFields(graph: Omit<Graph, 'modelFields'>): Uint8Array[] {
  return [
    ...graph.nodes.map((node) => writeField(1, ...nodeFields(node))),
    ...graph.initializers.map((tensor) => writeField(5, tensor)),
    ...graph.inputs.map((value) => writeField(11, ...valueFields(value))),
    ...graph.outputs.map((value) => writeField(12, ...valueFields(value))),
    ...graph.otherFields,
  ];
}

interface Reading {
  reader: ByteReader;
  graph: Graph;
  file: string | undefined;
}

function readGraphFields({ reader, graph, file }: Reading, { start, end }: Field): void {
  for (const field of fieldsOf(reader, start, end)) {
    if (field.number === 1) graph.nodes.push(readNode(reader, field));
    else if (field.number === 5) graph.initializers.push(readTensor(reader, field, file));
    else if (field.number === 11) graph.inputs.push(readValue(reader, field));
    else if (field.number === 12) graph.outputs.push(readValue(reader, field));
    // 13, value_info: shapes inside, which a change of the graph may make wrong; they are optional.
    else if (field.number !== 13) graph.otherFields.push(whole(reader, field));
  }
}

function readNode(reader: ByteReader, { start, end }: Field): GraphNode {
  const node: GraphNode = { op: '', inputs: [], outputs: [], otherFields: [] };
  for (const field of fieldsOf(reader, start, end)) {
    if (field.number === 1) node.inputs.push(contentText(reader, field));
    else if (field.number === 2) node.outputs.push(contentText(reader, field));
    else if (field.number === 4) node.op = contentText(reader, field);
    else node.otherFields.push(whole(reader, field));
  }
  return node;
}

function nodeFields({ op, inputs, outputs, otherFields }: GraphNode): Uint8Array[] {
  return [
    ...inputs.map((name) => writeField(1, name)),
    ...outputs.map((name) => writeField(2, name)),
    writeField(4, op),
    ...otherFields,
  ];
}

function readValue(reader: ByteReader, { start, end }: Field): GraphValue {
  const value: GraphValue = { name: '', type: new Uint8Array() };
  for (const field of fieldsOf(reader, start, end)) {
    if (field.number === 1) value.name = contentText(reader, field);
    if (field.number === 2) value.type = contentBytes(reader, field);
  }
  return value;
}

function valueFields({ name, type }: GraphValue): Uint8Array[] {
  return [writeField(1, name), writeField(2, type)];
}

/** A tensor with its large raw data replaced by its place in the file. */
function readTensor(reader: ByteReader, { start, end }: Field, file: string | undefined): Uint8Array {
  const fields = [...fieldsOf(reader, start, end)];
  const raw = fields.find((field) => field.number === 9 && field.end - field.start >= LEAST_EXTERNAL);
  if (!raw || file === undefined) return Buffer.from(reader.read(start, end - start));
  // 14, data_location: may say "inside"; the last one counts.
  const kept = fields.filter((field) => field !== raw && field.number !== 14);
  return Buffer.concat([...kept.map((field) => whole(reader, field)), placeOf(raw, file)]);
}

function placeOf({ start, end }: Field, file: string): Uint8Array {
  const entry = (key: string, value: string) => writeField(13, writeField(1, key), writeField(2, value));
  return Buffer.concat([
    entry('location', file),
    entry('offset', String(start)),
    entry('length', String(end - start)),
    // data_location: EXTERNAL
    writeNumber(14, 1),
  ]);
}

function whole(reader: ByteReader, { from, end }: Field): Uint8Array {
  return reader.read(from, end - from);
}

/** Fields of NodeProto and of AttributeProto. */
const [ATTRIBUTE, ATTRIBUTE_GRAPH] = [5, 6];

/** The node with the nodes of graphs inside of it, as branches have them, changed; the same one where none is. */
export function withInnerNodes(node: GraphNode, change: (inner: GraphNode) => GraphNode): GraphNode {
  const otherFields = node.otherFields.map((bytes) => {
    const reader = bytesReader(bytes);
    const [attribute] = fieldsOf(reader);
    if (attribute?.number !== ATTRIBUTE) return bytes;
    const parts = [...fieldsOf(reader, attribute.start, attribute.end)];
    const inner = parts.find(({ number }) => number === ATTRIBUTE_GRAPH);
    if (!inner) return bytes;
    const graph: Graph = {
      ...{ nodes: [], inputs: [], outputs: [], initializers: [] },
      ...{ otherFields: [], modelFields: [] },
    };
    readGraphFields({ reader, graph, file: undefined }, inner);
    const nodes = graph.nodes.map(change);
    if (nodes.every((each, i) => each === graph.nodes[i])) return bytes;
    const others = parts.filter((part) => part !== inner).map((part) => whole(reader, part));
    return writeField(ATTRIBUTE, ...others, writeField(ATTRIBUTE_GRAPH, ...graphFields({ ...graph, nodes })));
  });
  return otherFields.every((bytes, i) => bytes === node.otherFields[i]) ? node : { ...node, otherFields };
}

/** Element type of a value, by its number in TensorProto.DataType; undefined for what is no tensor. */
export function elementType({ type }: GraphValue): number | undefined {
  const reader = bytesReader(type);
  const element = tensorFields(reader).find((field) => field.number === 1);
  return element && varint(reader, element.start).value;
}

/** Shape of a value: numbers where it says them, as numbers or, as transformers' exporter does, as names of digits. */
export function tensorShape({ type }: GraphValue): (number | undefined)[] {
  const reader = bytesReader(type);
  const shape = tensorFields(reader).find((field) => field.number === 2);
  if (!shape) return [];
  return Array.from(fieldsOf(reader, shape.start, shape.end), ({ start, end }) => {
    const dimension = [...fieldsOf(reader, start, end)];
    const size = dimension.find((field) => field.number === 1);
    if (size) return varint(reader, size.start).value;
    const name = dimension.find((field) => field.number === 2);
    const text = name ? contentText(reader, name) : '';
    return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  });
}

/** Fields of the TypeProto.Tensor in a TypeProto: element type and shape. */
function tensorFields(reader: ByteReader): Field[] {
  const tensor = [...fieldsOf(reader)].find((field) => field.number === 1);
  return tensor ? [...fieldsOf(reader, tensor.start, tensor.end)] : [];
}

/** Dimensions of the constants of a graph, by name. */
export function initializerShapes({ initializers }: Graph): Map<string, number[]> {
  return new Map(initializers.map(shapeOfTensor));
}

function shapeOfTensor(bytes: Uint8Array): [string, number[]] {
  const reader = bytesReader(bytes);
  let name = '';
  const shape: number[] = [];
  for (const field of fieldsOf(reader)) {
    if (field.number === 8) name = contentText(reader, field);
    else if (field.number === 1 && field.wire === 0) shape.push(varint(reader, field.start).value);
    else if (field.number === 1) shape.push(...packedIntegers(reader, field));
  }
  return [name, shape];
}

/** What our graphs (runtime/models/) say of their producer. */
export const OWN_PRODUCER = writeField(2, 'slipway/graphs');

/** True for a graph of ours: decoders give new keys and values and the last scores only, and reckon places themselves. */
export function isOwn({ modelFields }: Graph): boolean {
  return modelFields.some((field) => OWN_PRODUCER.equals(field));
}

/** Version of the standard operators that a graph is written in. */
export function opsetOf({ modelFields }: Graph): number {
  for (const bytes of modelFields) {
    const reader = bytesReader(bytes);
    const [model] = fieldsOf(reader);
    if (model?.number !== 8) continue;
    const fields = [...fieldsOf(reader, model.start, model.end)];
    const domain = fields.find(({ number }) => number === 1);
    if (domain && domain.end > domain.start) continue;
    const version = fields.find(({ number }) => number === 2);
    if (version) return varint(reader, version.start).value;
  }
  return 0;
}
