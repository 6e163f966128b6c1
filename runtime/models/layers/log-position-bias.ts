import { GraphError } from '../writer/errors.js';

export interface LogPositions {
  /** Rows of the table for distances to either side. */
  span: number;
  /** Buckets to either side; undefined where each distance has a row of its own. */
  buckets?: number | undefined;
  /** Distances from here on share a row. */
  farthest: number;
}

/** Bounds what a configuration makes a graph hold. */
const MOST = 2 ** 16;

/**
 * Rows of DeBERTa's table of distances for all distances from -farthest to farthest; those beyond have the outermost.
 * Near distances have a row each, far ones share rows by their logarithm. Computed here and not by the graph: the last
 * bucket ends where a quotient is exactly 1, which logarithms of different kernels miss.
 * @returns [2 · farthest + 1] numbers from 0 to 2 · span - 1
 * @throws GraphError for numbers that make no such rows
 */
export function logPositions({ span, buckets, farthest }: LogPositions): number[] {
  if (Math.max(span, farthest) > MOST)
    throw new GraphError(`config.json: no more than ${MOST} relative positions are supported`);
  if (buckets !== undefined && (buckets % 2 === 1 || farthest - 1 <= buckets / 2))
    throw new GraphError(
      `config.json: position_buckets of ${buckets} must be even and less than twice max_relative_positions`,
    );
  const rows: number[] = [];
  for (let distance = -farthest; distance <= farthest; distance++) {
    const bucket = buckets === undefined ? distance : logBucket(distance, buckets / 2, farthest);
    rows.push(Math.min(Math.max(bucket + span, 0), 2 * span - 1));
  }
  return rows;
}

/** In float32, as Python: make_log_bucket_position of modeling_deberta_v2.py. */
function logBucket(distance: number, near: number, farthest: number): number {
  const far = Math.abs(distance);
  if (far <= near) return distance;
  const log = (ratio: number) => Math.fround(Math.log(Math.fround(ratio)));
  const share = Math.fround(log(far / near) / log((farthest - 1) / near));
  const bucket = Math.ceil(Math.fround(share * (near - 1))) + near;
  return Math.sign(distance) * bucket;
}
