import path from 'node:path';
import { type Graph, type GraphNode, readGraph, writeGraph } from '../../../runtime/onnx/graph.js';
import { intAttribute } from '../../../runtime/onnx/make.js';
import type { WeightIndex } from '../../../runtime/weights/index.js';
import { productsOf, turn, withFusedProducts } from './products.js';
import { prune } from './prune.js';
import { renameCache } from '../../../runtime/onnx/exporter-names.js';
import { strip } from './strip.js';
import { FLOAT, type Place, rawValues, readTensor, type Tensor, writeTensor } from './tensor.js';
import { bytesAt, isWeight, type Match, matchWeights } from './weights.js';

export interface FinishRequest {
  /** Of an exporter: its weights lie beside it. */
  graph: string;
  /** Outputs to keep. */
  outputs: readonly string[];
  /** Of the exporter's inputs -> new ones. */
  names?: Readonly<Record<string, string>> | undefined;
  index: WeightIndex;
  /** Folder of the checkpoint. */
  checkpoint: string;
  /** Name of the file for weights that the checkpoint does not have. */
  restFile: string;
}

export interface Finished {
  bytes: Uint8Array;
  /** What goes into the file of other weights, in order; empty where all of that lies in the graph. */
  rest: readonly RestPart[];
  shares: Shares;
}

/** Where weights are read from, in bytes as the network computes with them. */
export interface Shares {
  inPlace: number;
  transposed: number;
  copied: number;
}

export interface RestPart {
  /** In the file of the exporter. */
  from: Place;
  offset: number;
}

/** So many bytes of copied weights stay in the graph: then a model needs no file that is on no hub. */
const MOST_INLINE = 2 ** 20;
const ALIGNMENT = 64;

/** TensorProto.DataType of 16-bit floats by their names in safetensors. */
const HALVES: Readonly<Record<string, number>> = { F16: 10, BF16: 16 };

/**
 * The graph of an exporter as one of ours: stripped, with its weights in the checkpoint's files wherever those hold them.
 * Reads weights; writes nothing. The same input gives the same bytes.
 */
export async function finishGraph(request: FinishRequest): Promise<Finished> {
  const { graph: file, outputs } = request;
  const whole = renameCache(strip(readGraph(file)), request.names);
  const caches = madeCaches(whole);
  const graph = prune(whole, [...outputs, ...caches]);
  const tensors = graph.initializers.map(readTensor);
  const weights = tensors.filter(isWeight);
  const products = productsOf(graph);
  const from = path.dirname(file);
  const mayTurn = ({ name }: Tensor) => products.has(name);
  const matches = await matchWeights({ ...request, tensors: weights, from, mayTurn });
  const rest = placeRest(tensors.filter(({ name, place }) => place && !matches.has(name)));
  const initializers: Uint8Array[] = [];
  const casts: GraphNode[] = [];
  for (const tensor of tensors) {
    const match = matches.get(tensor.name);
    if (match) initializers.push(...stored(tensor, match, casts));
    else if (!tensor.place) initializers.push(writeTensor(tensor));
    else if (rest.inline)
      initializers.push(
        writeTensor({ ...tensor, place: undefined, values: [rawValues(await bytesAt(from, tensor.place))] }),
      );
    else {
      const place = { ...tensor.place, file: request.restFile, offset: rest.offsets.get(tensor.name)! };
      initializers.push(writeTensor({ ...tensor, place }));
    }
  }
  const turned = new Set([...matches].filter(([, match]) => match.transposed).map(([name]) => name));
  const nodes = [
    ...casts,
    ...graph.nodes.map((node) => (turned.has(node.inputs[1] ?? '') ? turn(node) : node)),
  ];
  const fields = withFusedProducts(graph.modelFields, turned.size > 0);
  return {
    bytes: writeGraph({ ...graph, nodes, initializers, modelFields: fields }),
    rest: rest.inline ? [] : rest.parts,
    shares: sharesOf(weights, matches, rest.bytes),
  };
}

/** Caches that a graph makes. Keys and values of a source that it reads are handed through, and made by another graph. */
function madeCaches({ inputs, outputs }: Graph): string[] {
  const read = new Set(inputs.map(({ name }) => name));
  return outputs
    .map(({ name }) => name)
    .filter((name) => /^present[._]/.test(name))
    .filter((name) => !(name.includes('.encoder.') && read.has(name.replace('present', 'past_key_values'))));
}

/** A tensor of the checkpoint as a constant; one of 16 bits under a name of its own, cast to the one that nodes read. */
function stored(tensor: Tensor, { stored: weight, transposed }: Match, casts: GraphNode[]): Uint8Array[] {
  const { file, offset, length, type } = weight;
  const half = HALVES[type];
  const name = half === undefined ? tensor.name : `${tensor.name}.stored`;
  const dims = transposed ? weight.shape : tensor.dims;
  if (half !== undefined)
    casts.push({
      ...{ op: 'Cast', inputs: [name], outputs: [tensor.name] },
      otherFields: [intAttribute('to', FLOAT)],
    });
  return [writeTensor({ name, dims, type: half ?? FLOAT, place: { file, offset, length }, values: [] })];
}

interface Rest {
  inline: boolean;
  bytes: number;
  parts: RestPart[];
  offsets: Map<string, number>;
}

function placeRest(tensors: readonly Tensor[]): Rest {
  const rest: Rest = { inline: true, bytes: 0, parts: [], offsets: new Map() };
  let end = 0;
  for (const { name, place } of tensors) {
    const offset = Math.ceil(end / ALIGNMENT) * ALIGNMENT;
    rest.parts.push({ from: place!, offset });
    rest.offsets.set(name, offset);
    rest.bytes += place!.length;
    end = offset + place!.length;
  }
  return { ...rest, inline: rest.bytes <= MOST_INLINE };
}

function sharesOf(weights: readonly Tensor[], matches: ReadonlyMap<string, Match>, copied: number): Shares {
  const shares = { inPlace: 0, transposed: 0, copied };
  for (const { name, place } of weights) {
    const match = matches.get(name);
    if (match) shares[match.transposed ? 'transposed' : 'inPlace'] += place!.length;
  }
  return shares;
}
