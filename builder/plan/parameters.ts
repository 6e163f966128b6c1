import path from 'node:path';
import type { ModelSpec } from '../../runtime/core/spec.js';
import { ProtobufError, withFileReader } from '../../runtime/onnx/protobuf.js';
import type { GraphNotes } from './external.js';
import { graphWeights, type Weight } from './graph-weights.js';
import { weightBytes } from './session-kind.js';

/** Parameters of a network of several graphs; weights that two graphs share count once. */
export function countParameters(graphs: readonly (readonly Weight[])[]): number {
  const shared = new Set<string>();
  return graphs.flat().reduce((sum, { name, shape, count }) => {
    const key = `${name} ${shape}`;
    // Exporters call what has no name of its own `onnx::MatMul_123`: such names meet by chance.
    if (!name.startsWith('onnx::') && shared.has(key)) return sum;
    shared.add(key);
    return sum + count;
  }, 0);
}

/** Bytes of one parameter in formats that pack none. */
const PLAIN_BYTES: [dtype: string, bytes: number][] = [
  ['fp32', 4],
  ['fp16', 2],
];

/**
 * Parameters of a model: counted where all of its graphs were read, else reckoned from the size of its plain weights
 * (three digits, since graphs hold some more than weights), else not known.
 * @param formats the model in every weight format that is there, the chosen one first
 */
export function parametersOf(
  formats: readonly ModelSpec[],
  { weights }: Pick<GraphNotes, 'weights'>,
): number | undefined {
  const graphs = Object.values(formats[0]!.graphs).map((path) => weights[path]);
  const counted = graphs.every((graph) => graph !== undefined) ? countParameters(graphs) : 0;
  if (counted > 0) return counted;
  for (const [dtype, bytes] of PLAIN_BYTES) {
    const plain = formats.find((format) => format.dtype === dtype);
    const total = plain && weightBytes(plain) / bytes;
    if (total) return Number(total.toPrecision(3));
  }
  return undefined;
}

/** Parameters of a model whose files lie in a folder; undefined where its graphs hold no weights that can be counted. */
export function parametersIn(dir: string, { graphs }: Pick<ModelSpec, 'graphs'>): number | undefined {
  try {
    const weights = Object.values(graphs).map((graph) =>
      withFileReader(path.join(dir, ...graph.split('/')), graphWeights),
    );
    return countParameters(weights) || undefined;
  } catch (error) {
    // Other ways to write a graph than ours to read it: then it is not known.
    if (error instanceof ProtobufError) return undefined;
    throw error;
  }
}
