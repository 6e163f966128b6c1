import { type Graph, type GraphNode, OWN_PRODUCER, writeGraph } from '../../onnx/graph.js';
import { writeField, writeNumber } from '../../onnx/protobuf.js';
import { attributeField, type Attributes } from './attributes.js';
import { createBudget, type GraphBudget } from './budget.js';
import { createConstants, type Constants } from './constants.js';
import { createInnerGraphs, type InnerGraphs } from './inner-graphs.js';
import { blocksOf, type Packing } from './packed-layout.js';
import type { MatrixUse, Storage } from './storage.js';
import { createStoredWeights } from './stored-weights.js';
import {
  ELEMENTS,
  type ElementName,
  type ExternalTensor,
  externalTensor,
  storedElement,
  type Place,
  shapedType,
  UINT8,
} from './tensors.js';
import type { Weights } from './weights.js';

/** The name of a tensor in the graph. */
export type Value = string;

/** Operators beyond the ONNX standard that ONNX Runtime has. */
export const MICROSOFT = 'com.microsoft';

/** Version of the standard's operators that graphs are written in. */
const OPSET = 20;
/** Of onnx.proto, which came with that one. */
const IR_VERSION = 9;

/** Sizes of axes; names are free, and equal ones are of one size. */
export type Shape = readonly (number | string)[];

/**
 * Writes an ONNX graph node by node. Weights are not part of it: they are named by file, offset and length, and ONNX
 * Runtime maps them from where they lie.
 */
export interface GraphWriter extends Constants, InnerGraphs {
  readonly weights: Weights;
  input(name: string, type: ElementName, shape: Shape): Value;
  output(name: string, value: Value, type: ElementName, shape: Shape): void;
  /**
   * A tensor of the checkpoint as float32, whatever type it is stored in.
   * @throws GraphError when there is none of that name and shape
   */
  weight(name: string, shape: readonly number[]): Value;
  /**
   * Rows of a table of the checkpoint at these ids, as float32: int64 [...] -> [..., width]. What is stored in 16 bits stays so
   * but for those rows.
   * @throws GraphError as `weight` does
   */
  rows(name: string, shape: readonly [number, number], ids: Value): Value;
  /**
   * A matrix [rows, columns] in blocks of small integers, where weights are packed; undefined where they are not.
   * @throws GraphError as `weight` does
   */
  packed(name: string, shape: readonly [number, number], use: MatrixUse): PackedMatrix | undefined;
  /** What `make` gave for this key before, or gives now: for parts that several layers share. */
  once<T>(key: string, make: () => T): T;
  /** A node with one output. */
  node(op: string, inputs: readonly Value[], attributes?: Attributes, domain?: string): Value;
  /** A node with several outputs. */
  nodes(op: string, inputs: readonly Value[], options: NodeOptions): Value[];
}

export interface PackedMatrix extends Packing {
  /** uint8 [rows, blocks, bytes of a block]; for a table [rows, bytes of a row]. */
  data: Value;
  /** float32 [rows, blocks] */
  scales: Value;
  /** Integers that are added to those of `data`, in the same layout. */
  rest?: Value | undefined;
  /** True for what another tool has packed. */
  isRepacked: boolean;
  /** uint8 [rows, bytes of all blocks' zero points]; absent where all are in the middle. */
  zeros?: Value | undefined;
  /** int64 [columns]: which column of the input each one is multiplied with; absent where it is the one of its own place. */
  order?: Value | undefined;
  /** float32 [rows, blocks]: what is added to the numbers of each block; absent where nothing is. */
  offsets?: Value | undefined;
}

export interface NodeOptions {
  outputs: number;
  attributes?: Attributes;
  domain?: string;
}

export interface GraphInProgress extends GraphWriter {
  /** The whole as an ONNX model. @throws GraphError where it is larger than graphs may be */
  finish(): Uint8Array;
}

export function createGraphWriter(weights: Weights, storage: Storage, budget?: GraphBudget): GraphInProgress {
  const graph: Graph = {
    ...{ nodes: [], inputs: [], outputs: [], initializers: [] },
    ...{ otherFields: [writeField(2, 'slipway')], modelFields: modelFields() },
  };
  const { node: countNode, initialize } = countedBy(budget ?? createBudget(), graph);
  const external = new Set<string>();
  let count = 0;
  /** Where nodes go: the graph's own, or those of a branch. */
  let current = graph.nodes;
  const inside = <T>(list: GraphNode[], write: () => T): T => {
    const before = current;
    current = list;
    try {
      return write();
    } finally {
      current = before;
    }
  };

  const nodes: GraphWriter['nodes'] = (op, inputs, { outputs, attributes = {}, domain }) => {
    countNode();
    const names = Array.from({ length: outputs }, () => `v${count++}`);
    const fields = Object.entries(attributes).flatMap(([name, value]) =>
      value === undefined ? [] : [attributeField(name, value)],
    );
    const otherFields = domain === undefined ? fields : [...fields, writeField(7, domain)];
    current.push({ op, inputs: [...inputs], outputs: names, otherFields });
    return names;
  };
  const node: GraphWriter['node'] = (op, inputs, attributes, domain) =>
    nodes(op, inputs, { outputs: 1, ...(attributes && { attributes }), ...(domain && { domain }) })[0]!;

  const made = new Map<string, unknown>();
  /** Not counted: there are no more of these than tensors in the checkpoint. */
  const asFloat = (name: string): Value => {
    const output = `v${count++}`;
    const otherFields = [attributeField('to', ELEMENTS.float32)];
    graph.nodes.push({ op: 'Cast', inputs: [name], outputs: [output], otherFields });
    return output;
  };
  const scaled = createScaled(graph, { asFloat, name: () => `v${count++}` });

  return {
    ...createConstants(initialize),
    ...createStoredWeights({ weights, storage, initialize, asFloat, node }),
    ...createInnerGraphs({ inside, node, nodes, name: () => `v${count++}` }),
    weights,
    nodes,
    node,
    once<T>(key: string, make: () => T): T {
      // What several use is in no branch of one.
      if (!made.has(key)) made.set(key, inside(graph.nodes, make));
      return made.get(key) as T;
    },
    input(name, type, shape) {
      graph.inputs.push({ name, type: shapedType(ELEMENTS[type], shape) });
      return name;
    },
    output(name, value, type, shape) {
      graph.nodes.push({ op: 'Identity', inputs: [value], outputs: [name], otherFields: [] });
      graph.outputs.push({ name, type: shapedType(ELEMENTS[type], shape) });
    },
    packed(name, [rows, columns], use) {
      const isTurned = use.transposed && !weights.isPacked(name);
      const stored = weights.take(name, isTurned ? [columns, rows] : [rows, columns]);
      const place = storage.pack(stored, use);
      if (!place) return undefined;
      const blocks = blocksOf(columns, place.block);
      const layout =
        use.kind === 'table'
          ? [rows, (columns * place.bits) / 8]
          : [rows, blocks, (place.block * place.bits) / 8];
      const add = (of: string, tensor: Omit<ExternalTensor, 'name'>): Value => {
        const own = `${stored.name} ${of}`;
        if (!external.has(own)) initialize(externalTensor({ name: own, ...tensor }));
        external.add(own);
        return own;
      };
      const data = { element: UINT8, shape: layout, place: place.data };
      const scales = { element: ELEMENTS.float32, shape: [rows, blocks], place: place.scales };
      const scalesName = `scales ${place.bits}`;
      const { rowScales } = place;
      const narrow = { ...scales, element: UINT8 };
      const { bits, block, transposed, isRepacked = false } = place;
      return {
        ...{ bits, block, transposed, isRepacked },
        data: add(`${use.kind} ${bits}`, data),
        scales: rowScales
          ? scaled(add(scalesName, narrow), add(`row ${scalesName}`, rowScalesTensor(rows, rowScales)))
          : add(scalesName, scales),
        rest: place.rest && add(`rest ${bits}`, { ...data, place: place.rest }),
        zeros: place.zeros && add('zeros', zerosTensor(rows, place.zeros)),
        offsets: place.offsets && add('offsets', { ...scales, place: place.offsets }),
        order: place.order && add('order', { element: ELEMENTS.int64, shape: [columns], place: place.order }),
      };
    },
    finish: () => finished(graph),
  };
}

const zerosTensor = (rows: number, place: Place): Omit<ExternalTensor, 'name'> => ({
  ...{ element: UINT8, shape: [rows, place.length / rows], place },
});

const rowScalesTensor = (rows: number, place: Place): Omit<ExternalTensor, 'name'> => ({
  ...{ element: storedElement('BF16'), shape: [rows, 1], place },
});

/** Scales of eight bits times those of their rows, as floats: ONNX Runtime multiplies them once, when it opens the graph. */
function createScaled(
  { nodes }: Graph,
  { asFloat, name }: { asFloat(name: string): Value; name(): Value },
): (scales: Value, rowScales: Value) => Value {
  const known = new Map<Value, Value>();
  return (scales, rowScales) => {
    const before = known.get(scales);
    if (before !== undefined) return before;
    const inputs = [asFloat(scales), asFloat(rowScales)];
    const output = name();
    nodes.push({ op: 'Mul', inputs, outputs: [output], otherFields: [] });
    known.set(scales, output);
    return output;
  };
}

function countedBy(budget: GraphBudget, { initializers }: Graph) {
  const initialize = (tensor: Uint8Array) => {
    budget.bytes(tensor.length);
    initializers.push(tensor);
  };
  return { node: budget.node, initialize };
}

function finished(graph: Graph): Uint8Array {
  const bytes = writeGraph(graph);
  createBudget().bytes(bytes.length);
  return bytes;
}

function modelFields(): Uint8Array[] {
  const opset = (domain: string, version: number) =>
    writeField(8, writeField(1, domain), writeNumber(2, version));
  return [writeNumber(1, IR_VERSION), OWN_PRODUCER, opset('', OPSET), opset(MICROSOFT, 1)];
}
