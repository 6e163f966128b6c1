import { realpathSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { readGraph, writeGraph } from '../../onnx/graph.js';
import { namedFiles } from '../../onnx/named-files.js';
import { bytesReader, ProtobufError } from '../../onnx/protobuf.js';
import type { GraphSource } from './graph-source.js';

/** Smaller files are read whole sooner than they are walked. */
const LEAST_BYTES = 2 ** 20;
/** A structure of more than this part of the file holds weights in fields that only a whole file may have. */
const LARGEST_PART = 0.5;

/**
 * The same graph with its weights left in the file: ONNX Runtime maps what a graph in memory refers to, where a file that
 * holds its own weights is read whole, parsed and copied.
 * @returns the path itself where that gains nothing, or can't be had; opening it then says what is wrong with it
 */
export function inPlace(path: string): GraphSource {
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size < LEAST_BYTES) return path;
  try {
    // Links lead to where ONNX Runtime may read: it refuses files outside of the folder that it is given.
    const real = realpathSync(path);
    const bytes = writeGraph(readGraph(real));
    const own = namedFiles(bytesReader(bytes)).every((name) => name === basename(real));
    return own && bytes.length < size * LARGEST_PART ? { bytes, weightsIn: dirname(real) } : path;
  } catch (error) {
    if (error instanceof ProtobufError) return path;
    throw error;
  }
}
