import type { RepoFile } from '../../runtime/core/spec.js';
import { bytesReader, ProtobufError } from '../../runtime/onnx/protobuf.js';
import { externalLocations } from '../../runtime/store/external-data.js';
import { type ExternalHints, likelyExternalFiles } from '../../runtime/store/external-files.js';
import { PLANNED_GRAPH_BYTES } from '../../runtime/store/graph-check.js';
import { type ModelSource, readBytes, type RepoRef } from '../../runtime/store/source.js';
import { graphWeights, type Weight } from './parameters.js';

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
}

/** What the graphs that were read say, by their paths. */
export interface GraphNotes {
  /** Names under which their weights lie. */
  external: ExternalHints;
  weights: Readonly<Record<string, Weight[]>>;
}

/**
 * Reads from the graphs themselves under which names their weights lie and how large those are, as far as the graphs
 * are small; larger ones are weights, and stay where they are.
 * @throws StoreError
 */
export async function readGraphNotes({ source, ref, files, graphs }: GraphsRequest): Promise<GraphNotes> {
  const external: Record<string, string[]> = {};
  const weights: Record<string, Weight[]> = {};
  for (const path of graphs) {
    const file = files.find((candidate) => candidate.path === path);
    if (!file || !isWorthReading(file, files)) continue;
    const reader = bytesReader(await readBytes(source, ref, file));
    external[path] = externalLocations(reader);
    weights[path] = weightsIn(reader);
  }
  return { external, weights };
}

/** A graph that ONNX Runtime may still refuse, or read, says nothing here. */
function weightsIn(reader: ReturnType<typeof bytesReader>): Weight[] {
  try {
    return graphWeights(reader);
  } catch (error) {
    if (error instanceof ProtobufError) return [];
    throw error;
  }
}

function isWorthReading(graph: RepoFile, files: readonly RepoFile[]): boolean {
  if (graph.size <= SMALL_BYTES) return true;
  return graph.size <= MEDIUM_BYTES && likelyExternalFiles(graph, files).length > 0;
}
