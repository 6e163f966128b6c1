import type { Edges } from '../../../processors/image/sizes.js';
import { bilinearRows, type Plane, type RowSampler } from '../../../processors/image/interpolate.js';
import { maskProbabilities, type Queries } from './queries.js';
import type { SegmentOptions } from '../../../../core/handles/index.js';
import { eachRow } from '../../../../core/each-row.js';
import type { Segment, SegmentMap } from './segment-map.js';

/** One that may get pixels. */
export interface Candidate {
  label: number;
  score: number;
  mask: Plane;
}

/**
 * Every pixel belongs to the query that is surest of it; queries to which too little of their mask is left are dropped.
 * transformers' post_process_panoptic_segmentation, which the pipeline lets fuse nothing.
 */
export function panopticMap(
  { classes, masks }: Queries,
  size: Edges,
  options: ShareOptions,
): Promise<SegmentMap> {
  const kept = bestClass({ classes, masks }, options.threshold);
  return sharedMap(kept, size, { ...options, valuesOf: maskProbabilities });
}

/**
 * Queries whose best class scores more than a threshold.
 * @param withNothing false: "nothing" is not among the classes; true: queries of which it is the best are left out
 */
export function bestClass({ classes, masks }: Queries, threshold: number, withNothing = true): Candidate[] {
  return classes.flatMap((all, query) => {
    const row = withNothing ? all : all.subarray(0, -1);
    const label = row.indexOf(row.reduce((most, value) => Math.max(most, value), -Infinity));
    const isKept = label < all.length - 1 && row[label]! > Math.fround(threshold);
    return isKept ? [{ label, score: row[label]!, mask: masks[query]! }] : [];
  });
}

export type ShareOptions = Omit<SegmentOptions, 'subtask'> & { signal: AbortSignal };

/**
 * Pixels for each candidate, by its weighted values; its share of its own mask decides whether it is kept. transformers'
 * compute_segments.
 * @param valuesOf what is enlarged of a mask
 */
export async function sharedMap(
  kept: readonly Candidate[],
  size: Edges,
  {
    maskThreshold,
    overlapThreshold,
    signal,
    valuesOf,
  }: Omit<ShareOptions, 'threshold'> & { valuesOf: (mask: Plane) => Plane },
): Promise<SegmentMap> {
  const samplers: RowSampler[] = [];
  await eachRow(kept.length, signal, (k) => {
    samplers.push(bilinearRows(valuesOf(kept[k]!.mask), size));
  });
  const ids = new Int16Array(size.height * size.width).fill(-1);
  if (kept.length === 0) return { ...size, ids, segments: [] };
  const [row, best] = [new Float32Array(size.width), new Float32Array(size.width)];
  /** Pixels that are surest of each query, and those of its whole mask. */
  const [own, whole] = [new Float64Array(kept.length), new Float64Array(kept.length)];
  await eachRow(size.height, signal, (y) => {
    best.fill(-Infinity);
    const line = ids.subarray(y * size.width, (y + 1) * size.width);
    for (const [k, sampler] of samplers.entries()) {
      sampler.row(y, row);
      for (let x = 0; x < size.width; x++) {
        const weighted = Math.fround(row[x]! * kept[k]!.score);
        if (weighted >= maskThreshold) whole[k]!++;
        if (!(weighted > best[x]!)) continue;
        best[x] = weighted;
        line[x] = k;
      }
    }
    for (const k of line) own[k]!++;
  });
  return numbered({ ...size, ids, segments: [] }, (k) => {
    const isKept = own[k]! > 0 && whole[k]! > 0 && Math.fround(own[k]! / whole[k]!) > overlapThreshold;
    return isKept ? kept[k] : undefined;
  });
}

/** Ids from 1 on for the queries that are kept; pixels of the others belong to none. */
function numbered(
  map: SegmentMap,
  find: (k: number) => { label: number; score: number } | undefined,
): SegmentMap {
  const count = map.ids.reduce((most, k) => Math.max(most, k), -1) + 1;
  const segments: Segment[] = [];
  const idOf = new Int16Array(count);
  for (let k = 0; k < count; k++) {
    const found = find(k);
    if (!found) continue;
    idOf[k] = segments.length + 1;
    segments.push({ id: idOf[k]!, label: found.label, score: Math.round(found.score * 1e6) / 1e6 });
  }
  for (let i = 0; i < map.ids.length; i++) map.ids[i] = map.ids[i]! < 0 ? -1 : idOf[map.ids[i]!]!;
  return { ...map, segments };
}
