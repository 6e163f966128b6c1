import type { Graph, GraphNode, GraphValue } from '../../../runtime/onnx/graph.js';
import { bytesReader, fieldsOf, writeField, writeNumber } from '../../../runtime/onnx/protobuf.js';
import { numberOf, textsIn } from './fields.js';

/** Of ModelProto: version of the format, operator sets, functions. Who made it, when and from what is left out. */
const MODEL_FIELDS: ReadonlySet<number> = new Set([1, 8, 25]);
/** Of NodeProto: attributes, domain, overload. Names, documentation and metadata (stack traces, with paths) are left out. */
const NODE_FIELDS: ReadonlySet<number> = new Set([5, 7, 8]);
/** Of GraphProto: sparse constants. */
const GRAPH_FIELDS: ReadonlySet<number> = new Set([15]);

const GRAPH_NAME = 2;
const PRODUCER = 2;

/** The graph without names of nodes, documentation and metadata; a size that is written as a name becomes a number. */
export function strip(graph: Graph): Graph {
  return {
    nodes: graph.nodes.map(stripNode),
    inputs: graph.inputs.map(withSizes),
    outputs: graph.outputs.map(withSizes),
    initializers: graph.initializers,
    otherFields: [writeField(GRAPH_NAME, 'exported'), ...graph.otherFields.filter(isOf(GRAPH_FIELDS))],
    modelFields: [...graph.modelFields.filter(isOf(MODEL_FIELDS)), writeField(PRODUCER, 'slipway/exported')],
  };
}

function stripNode(node: GraphNode): GraphNode {
  return { ...node, otherFields: node.otherFields.filter(isOf(NODE_FIELDS)) };
}

const isOf = (numbers: ReadonlySet<number>) => (field: Uint8Array) => numbers.has(numberOf(field));

/** TypeProto.tensor_type, its shape, a dimension, and what a dimension says: a number or a name. */
const [TENSOR, SHAPE, DIMENSION, VALUE, NAME] = [1, 2, 1, 1, 2];

function withSizes(value: GraphValue): GraphValue {
  const type = mapFields(value.type, TENSOR, (tensor) =>
    mapFields(tensor, SHAPE, (shape) => mapFields(shape, DIMENSION, sizeOf)),
  );
  return { name: value.name, type };
}

function sizeOf(dimension: Uint8Array): Uint8Array {
  const [text] = textsIn(dimension, NAME);
  return text !== undefined && /^\d{1,15}$/.test(text) ? writeNumber(VALUE, Number(text)) : dimension;
}

/** The message with the contents of one of its fields changed. */
function mapFields(
  message: Uint8Array,
  number: number,
  change: (content: Uint8Array) => Uint8Array,
): Uint8Array {
  const parts = Array.from(fieldsOf(bytesReader(message)), (field) =>
    field.number === number
      ? writeField(number, change(message.subarray(field.start, field.end)))
      : message.subarray(field.from, field.end),
  );
  return Buffer.concat(parts);
}
