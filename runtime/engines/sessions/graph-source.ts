import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { RunError } from '../../core/errors.js';
import type { LoadRequest } from '../../core/load-request.js';
import { type Graph, readGraph, readGraphBytes } from '../../onnx/graph.js';

/** A graph in memory, whose weights lie in files of a folder. */
export interface GraphInMemory {
  bytes: Uint8Array;
  weightsIn: string;
}

/** What a session is opened from: a file, beside which its weights lie, or a graph in memory. */
export type GraphSource = string | GraphInMemory;

/** The graph of a role: a file of the repository, or one that the builder wrote into model.json. */
export function graphSource(request: Pick<LoadRequest, 'dir' | 'spec'>, role: string): GraphSource {
  const { dir, spec } = request;
  const path = spec.graphs[role]!;
  const written = spec.written?.find((graph) => graph.path === path);
  if (!written) return join(dir, path);
  const bytes = Buffer.from(written.content, 'base64');
  if (createHash('sha256').update(bytes).digest('hex') === written.sha256) return { bytes, weightsIn: dir };
  throw new RunError('not_ready', `model.json: the graph ${path} is not the one of its sha256`);
}

/** Reads the structure of a graph; its weights stay where they are. */
export function structureOf(source: GraphSource): Graph {
  return typeof source === 'string' ? readGraph(source) : readGraphBytes(source.bytes);
}

/** Folder of the graph's weights. */
export function weightsFolder(source: GraphSource): string {
  return typeof source === 'string' ? dirname(source) : source.weightsIn;
}
