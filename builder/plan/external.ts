import type { RepoFile } from '../../runtime/core/spec.js';
import { readGraphBytes, tensorShape } from '../../runtime/onnx/graph.js';
import { type PortNames, portNames } from '../../runtime/onnx/ports.js';
import { bytesReader, ProtobufError } from '../../runtime/onnx/protobuf.js';
import { externalLocations } from '../../runtime/store/external-data.js';
import { type ExternalFileNames, likelyExternalFiles } from '../../runtime/store/external-files.js';
import { PLANNED_GRAPH_BYTES } from '../../runtime/store/graph-check.js';
import { type ModelSource, readBytes, type RepoRef } from '../../runtime/store/source.js';
import type { GraphInput } from './free-sizes.js';
import { readPortNames } from './graph-ends.js';
import { graphWeights, type Weight } from './graph-weights.js';

/** Graphs up to this size are always read: they have external weights, or few weights. */
const SMALL_BYTES = 4 * 2 ** 20;
/** Graphs up to this size are read if a file beside them looks like their weights. */
const MEDIUM_BYTES = PLANNED_GRAPH_BYTES;

export interface GraphsRequest {
  source: Pick<ModelSource, 'open' | 'read'>;
  ref: RepoRef;
  files: readonly RepoFile[];
  /** Paths of the chosen graphs. */
  graphs: readonly string[];
  /** Also read the ends of large graphs, for their inputs and outputs. */
  ends?: boolean;
  /** Also read the shapes of inputs. */
  shapes?: boolean;
}

/** Facts from the graphs that were read, by path. */
export interface GraphNotes {
  /** Names of their external weight files. */
  external: ExternalFileNames;
  weights: Readonly<Record<string, Weight[]>>;
  /** Their inputs and outputs. */
  ports: Readonly<Record<string, PortNames>>;
  /** Their inputs with shapes, where these were asked for. */
  inputs: Readonly<Record<string, readonly GraphInput[]>>;
}

/**
 * Reads from small graphs the names of their external weight files and the sizes of their weights. Large graphs hold
 * their weights themselves and are not read, except for their ends if requested.
 * @throws StoreError
 */
export async function readGraphNotes({
  source,
  ref,
  files,
  graphs,
  ends = false,
  shapes = false,
}: GraphsRequest): Promise<GraphNotes> {
  const external: Record<string, string[]> = {};
  const weights: Record<string, Weight[]> = {};
  const ports: Record<string, PortNames> = {};
  const inputs: Record<string, readonly GraphInput[]> = {};
  for (const path of graphs) {
    const file = files.find((candidate) => candidate.path === path);
    if (!file) continue;
    if (!isWorthReading(file, files)) {
      const found = ends ? await readPortNames(source, ref, file) : undefined;
      if (found) ports[path] = found;
      continue;
    }
    const bytes = await readBytes(source, ref, file);
    const reader = bytesReader(bytes);
    external[path] = externalLocations(reader);
    weights[path] = whereRead(() => graphWeights(reader)) ?? [];
    const found = whereRead(() => portNames(reader));
    if (found) ports[path] = found;
    if (shapes) inputs[path] = whereRead(() => shapesOf(bytes)) ?? [];
  }
  return { external, weights, ports, inputs };
}

const shapesOf = (bytes: Uint8Array): GraphInput[] =>
  readGraphBytes(bytes).inputs.map((value) => ({ name: value.name, shape: tensorShape(value) }));

/** Undefined for a graph that can't be parsed; ONNX Runtime decides later whether it is valid. */
function whereRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ProtobufError) return undefined;
    throw error;
  }
}

function isWorthReading(graph: RepoFile, files: readonly RepoFile[]): boolean {
  if (graph.size <= SMALL_BYTES) return true;
  return graph.size <= MEDIUM_BYTES && likelyExternalFiles(graph, files).length > 0;
}
