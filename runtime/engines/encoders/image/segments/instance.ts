import type { Edges } from '../../../processors/image/sizes.js';
import type { Plane } from '../../../processors/image/interpolate.js';
import { sigmoid } from '../../boxes.js';
import { type Candidate, sharedMap, type ShareOptions } from './panoptic.js';
import type { Queries } from './queries.js';
import { eachRow } from '../../../../core/each-row.js';
import type { Segment, SegmentMap } from './segment-map.js';

/**
 * The best pairs of query and class, each with the mask of its query; later ones lie over earlier ones.
 * transformers' post_process_instance_segmentation of MaskFormer and Mask2Former.
 */
export async function instanceMap(
  queries: Queries,
  size: Edges,
  { threshold, signal }: { threshold: number; signal: AbortSignal },
): Promise<SegmentMap> {
  const instances = (await instancesOf(queries, signal)).filter(
    ({ score, mask }) => score >= threshold && mask.values.some(isIn),
  );
  const ids = new Int16Array(size.height * size.width).fill(-1);
  const segments = instances.map(({ label, score }, id): Segment => ({
    ...{ id, label },
    score: Math.round(score * 1e6) / 1e6,
  }));
  await eachRow(size.height, signal, (y) => {
    for (const [id, { mask }] of instances.entries()) {
      const from = Math.floor((y * mask.height) / size.height) * mask.width;
      for (let x = 0; x < size.width; x++) {
        const column = Math.floor((x * mask.width) / size.width);
        if (isIn(mask.values[from + column]!)) ids[y * size.width + x] = id;
      }
    }
  });
  return { ...size, ids, segments };
}

const isIn = (logit: number): boolean => logit > 0;

/** OneFormer's: the best pairs share the pixels, by the logits of their masks. */
export function sharedInstanceMap(queries: Queries, size: Edges, options: ShareOptions): Promise<SegmentMap> {
  const kept = bestPairs(queries).filter(({ score }) => score > Math.fround(options.threshold));
  return sharedMap(kept, size, { ...options, valuesOf: (mask) => mask });
}

async function instancesOf(queries: Queries, signal: AbortSignal): Promise<Candidate[]> {
  const pairs = bestPairs(queries);
  const instances: Candidate[] = [];
  await eachRow(pairs.length, signal, (i) => {
    const { label, mask, score } = pairs[i]!;
    instances.push({ label, mask, score: Math.fround(score * meanInside(mask)) });
  });
  return instances;
}

/** As many pairs of query and class as there are queries, the most probable first; "nothing" is no class. */
function bestPairs({ classes, masks }: Queries): Candidate[] {
  const pairs = classes.flatMap((row, query) =>
    Array.from(row.subarray(0, -1), (score, label) => ({ label, score, mask: masks[query]! })),
  );
  return pairs.sort((a, b) => b.score - a.score).slice(0, masks.length);
}

/** Mean probability of the pixels of a mask. */
function meanInside({ values }: Plane): number {
  let [sum, count] = [0, 0];
  for (const logit of values) {
    if (!isIn(logit)) continue;
    sum += sigmoid(logit);
    count++;
  }
  return sum / (count + 1e-6);
}
