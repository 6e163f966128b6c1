import type { RepoFile } from '../../runtime/core/spec.js';
import { type PortNames, portNames } from '../../runtime/onnx/ports.js';
import { bytesReader, ProtobufError } from '../../runtime/onnx/protobuf.js';
import { externalLocations } from '../../runtime/store/external-data.js';
import { type ExternalFileNames, likelyExternalFiles } from '../../runtime/store/external-files.js';
import { PLANNED_GRAPH_BYTES } from '../../runtime/store/graph-check.js';
import { type ModelSource, readBytes, type RepoRef } from '../../runtime/store/source.js';
import { readPortNames } from './graph-ends.js';
import { graphWeights, type Weight } from './graph-weights.js';

/** Graphs up to here are read always: one this small has nearly all of its weights elsewhere, or few. */
const SMALL_BYTES = 4 * 2 ** 20;
/** Graphs up to here are read when something beside them looks like their weights. */
const MEDIUM_BYTES = PLANNED_GRAPH_BYTES;

export interface GraphsRequest {
  source: Pick<ModelSource, 'open'>;
  ref: RepoRef;
  files: readonly RepoFile[];
  /** Paths of the chosen graphs. */
  graphs: readonly string[];
  /** Read the ends of large graphs, too, for what they take and give. */
  ends?: boolean;
}

/** What the graphs that were read say, by their paths. */
export interface GraphNotes {
  /** Names under which their weights lie. */
  external: ExternalFileNames;
  weights: Readonly<Record<string, Weight[]>>;
  /** What they take and give. */
  ports: Readonly<Record<string, PortNames>>;
}

/**
 * Reads from the graphs themselves under which names their weights lie and how large those are, as far as the graphs
 * are small; larger ones are weights, and stay where they are, but for their ends where these are asked for.
 * @throws StoreError
 */
export async function readGraphNotes({
  source,
  ref,
  files,
  graphs,
  ends = false,
}: GraphsRequest): Promise<GraphNotes> {
  const external: Record<string, string[]> = {};
  const weights: Record<string, Weight[]> = {};
  const ports: Record<string, PortNames> = {};
  for (const path of graphs) {
    const file = files.find((candidate) => candidate.path === path);
    if (!file) continue;
    if (!isWorthReading(file, files)) {
      const found = ends ? await readPortNames(source, ref, file) : undefined;
      if (found) ports[path] = found;
      continue;
    }
    const reader = bytesReader(await readBytes(source, ref, file));
    external[path] = externalLocations(reader);
    weights[path] = whereRead(() => graphWeights(reader)) ?? [];
    const found = whereRead(() => portNames(reader));
    if (found) ports[path] = found;
  }
  return { external, weights, ports };
}

/** A graph that ONNX Runtime may still refuse, or read, says nothing here. */
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
