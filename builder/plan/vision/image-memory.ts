import { imageRunBytes, type RunBytes } from '../../../runtime/core/media-run-memory.js';
import type { ImageSize } from '../../../runtime/core/network.js';
import type { Json } from '../network/config-fields.js';
import { besideRuns, framesOf, imageParts } from '../network/image-parts.js';
import { processedEdges, USUAL } from './image-edges.js';

/**
 * What images take on a CPU, in bytes. The factors are measured on networks of real size with random weights
 * (bench/image-memory.mjs, docs/measurements.md).
 */
export interface ImageMemory {
  /** Of a run with an image of usual proportions: over a graph of ours, and over an export. */
  run: RunBytes;
  /** The same with the longest image that is usual, where images keep their proportions. */
  longest: RunBytes;
  /** What JavaScript holds of tensors that have been read, until V8 collects them. */
  tensors: number;
  /** Constants that an opened session holds beside its weights. */
  folded: number;
  /** Weights are held several times while sessions are opened. */
  convolutional: boolean;
}

/** Proportions of a video. */
const LONG: ImageSize = { height: 750, width: 1333 };

const FLOAT = 4;
/** Reads config.json and preprocessor_config.json. Pure. */
export function imageMemory(config: Json, processing: Json): ImageMemory {
  const size = processedEdges(config, processing, USUAL);
  const parts = imageParts(config);
  const { output, folded, convolutional } = besideRuns(config, size);
  const input = 3 * framesOf(config) * size.height * size.width;
  return {
    run: imageRunBytes(parts, size),
    longest: imageRunBytes(parts, processedEdges(config, processing, LONG)),
    tensors: kept(FLOAT * input) + kept(FLOAT * output),
    ...{ folded: FLOAT * folded, convolutional },
  };
}

/** Runs until V8 has collected a first time, and memory outside of its heap that makes it collect. */
const RUNS = 8;
const UNCOLLECTED = 64 * 2 ** 20;

/** Bytes of tensors of one kind: the trial and the first requests leave theirs behind, at least one of them beside the next. */
const kept = (bytes: number): number => Math.min(RUNS * bytes, Math.max(UNCOLLECTED, bytes) + bytes);
