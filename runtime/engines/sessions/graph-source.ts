import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { RunError } from '../../core/errors.js';
import type { LoadRequest } from '../../core/load-request.js';
import type { WrittenGraph } from '../../core/spec.js';
import { type Graph, readGraph, readGraphBytes } from '../../onnx/graph.js';
import { namedFiles } from '../../onnx/named-files.js';
import { bytesReader, ProtobufError } from '../../onnx/protobuf.js';
import { withFilesAt } from '../../onnx/relocate.js';
import { realFiles } from './real-files.js';

/** A graph in memory, whose weights lie in files of a folder. */
export interface GraphInMemory {
  bytes: Uint8Array;
  weightsIn: string;
}

/** What a session is opened from: a file, beside which its weights lie, or a graph in memory. */
export type GraphSource = string | GraphInMemory;

/**
 * The graph of a role: a file of the repository, or one that the builder wrote into model.json.
 * @throws RunError not_ready for a written graph that is not the one of its sha256, or reads other files than the model's
 */
export function graphSource(request: Pick<LoadRequest, 'dir' | 'spec'>, role: string): GraphSource {
  const { dir, spec } = request;
  const path = spec.graphs[role]!;
  const written = spec.written?.find((graph) => graph.path === path);
  if (!written) return join(dir, path);
  const bytes = Buffer.from(written.content, 'base64');
  if (createHash('sha256').update(bytes).digest('hex') !== written.sha256)
    throw new RunError('not_ready', `model.json: the graph ${path} is not the one of its sha256`);
  const named = filesOf(path, bytes);
  requireOwnFiles(written, named, new Set(spec.files.map((file) => file.path)));
  const real = realFiles(dir, named);
  if (!real) return { bytes, weightsIn: dir };
  return { bytes: withFilesAt(bytes, (file) => real.names.get(file) ?? file), weightsIn: real.folder };
}

/**
 * ONNX Runtime reads any file that a graph names within the folder of its weights, whether it is the model's or not, and
 * which ones outside of it changed from version to version.
 */
function requireOwnFiles({ path }: WrittenGraph, named: readonly string[], own: ReadonlySet<string>): void {
  const other = named.find((file) => !own.has(file));
  if (other === undefined) return;
  throw new RunError(
    'not_ready',
    `model.json: the graph ${path} reads ${JSON.stringify(other)}, which is no file of the model`,
  );
}

function filesOf(path: string, bytes: Uint8Array): string[] {
  try {
    return namedFiles(bytesReader(bytes));
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw new RunError('not_ready', `model.json: the graph ${path} is none: ${error.message}`);
  }
}

/** Reads the structure of a graph; its weights stay where they are. */
export function structureOf(source: GraphSource): Graph {
  return typeof source === 'string' ? readGraph(source) : readGraphBytes(source.bytes);
}

/** Folder of the graph's weights. */
export function weightsFolder(source: GraphSource): string {
  return typeof source === 'string' ? dirname(source) : source.weightsIn;
}
