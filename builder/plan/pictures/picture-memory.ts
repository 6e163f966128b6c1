import type { Edges, Json } from '../../../runtime/core/picture-fields.js';
import {
  framesOf,
  networkParts,
  pictureRunBytes,
  type RunBytes,
} from '../../../runtime/core/picture-parts.js';
import { processedEdges, USUAL } from './picture-edges.js';

/**
 * What pictures take on a CPU, in bytes. The factors are measured on networks of real size with random weights
 * (bench/picture-memory.mjs, docs/measurements.md).
 */
export interface PictureMemory {
  /** Of a run with a picture of usual proportions: over a graph of ours, and over an export. */
  run: RunBytes;
  /** The same with the longest picture that is usual, where pictures keep their proportions. */
  longest: RunBytes;
  /** What JavaScript holds of tensors that have been read, until V8 collects them. */
  tensors: number;
  /** Constants that an opened session holds beside its weights. */
  folded: number;
  /** Weights are held several times while sessions are opened. */
  convolutional: boolean;
}

/** Proportions of a film. */
const LONG: Edges = { height: 750, width: 1333 };

const FLOAT = 4;
/** Reads config.json and preprocessor_config.json. Pure. */
export function pictureMemory(config: Json, processing: Json): PictureMemory {
  const size = processedEdges(config, processing, USUAL);
  const { output, folded, convolutional } = networkParts(config, size);
  const input = 3 * framesOf(config) * size.height * size.width;
  return {
    run: pictureRunBytes(config, size),
    longest: pictureRunBytes(config, processedEdges(config, processing, LONG)),
    tensors: kept(FLOAT * input) + kept(FLOAT * output),
    ...{ folded: FLOAT * folded, convolutional },
  };
}

/** Runs until V8 has collected a first time, and memory outside of its heap that makes it collect. */
const RUNS = 8;
const UNCOLLECTED = 64 * 2 ** 20;

/** Bytes of tensors of one kind: the trial and the first requests leave theirs behind, at least one of them beside the next. */
const kept = (bytes: number): number => Math.min(RUNS * bytes, Math.max(UNCOLLECTED, bytes) + bytes);
