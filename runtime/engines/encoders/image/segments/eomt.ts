import { RunError } from '../../../../core/errors.js';
import { eachRow } from '../../../../core/each-row.js';
import {
  bilinearOfRows,
  bilinearRows,
  type Plane,
  type RowSampler,
} from '../../../processors/image/interpolate.js';
import { sigmoid } from '../../boxes.js';
import type { ProcessedImage } from '../../../processors/image/image-processor.js';
import { bestClass, type Candidate, type ShareOptions } from './panoptic.js';
import type { Queries } from './queries.js';
import type { Segment, SegmentMap } from './segment-map.js';

type Framed = Omit<ProcessedImage, 'values'>;

/**
 * EoMT: masks are enlarged to what the graph saw, cut to the image in it, and enlarged to the image's size, all as logits.
 * @throws RunError 422 for semantic segmentation, on which Python fails without an image cut into several
 */
export function eomtMap(
  queries: Queries,
  image: Framed,
  { subtask, ...options }: ShareOptions & { subtask?: string | undefined },
): Promise<SegmentMap> {
  if (subtask === 'semantic')
    throw new RunError('unprocessable', 'params.subtask: this model does panoptic and instance segmentation');
  return (subtask === 'instance' ? instances : panoptic)(queries, image, options);
}

function samplerOf(mask: Plane, { height, width, content, original }: Framed): RowSampler {
  // Nothing of the larger mask is held but two rows: there may be hundreds of masks.
  return bilinearOfRows(bilinearRows(mask, { height, width }), content, original);
}

/** Pixels of the surest query, where they are in its own mask, too. */
async function panoptic(queries: Queries, image: Framed, options: ShareOptions): Promise<SegmentMap> {
  const { maskThreshold, overlapThreshold, signal } = options;
  const { original: size } = image;
  const kept = bestClass(queries, options.threshold);
  const samplers = kept.map(({ mask }) => samplerOf(mask, image));
  const ids = new Int16Array(size.height * size.width).fill(-1);
  /** Pixels that are surest of each, those of its mask, and those of both. */
  const [own, whole, both] = Array.from({ length: 3 }, () => new Float64Array(kept.length)) as Counts;
  const inside = new Uint8Array(ids.length);
  const [row, best] = [new Float32Array(size.width), new Float32Array(size.width)];
  await eachRow(size.height, signal, (y) => {
    best.fill(-Infinity);
    const from = y * size.width;
    for (const [k, sampler] of samplers.entries()) {
      sampler.row(y, row);
      for (let x = 0; x < size.width; x++) {
        const probability = Math.fround(sigmoid(row[x]!));
        const isIn = probability >= Math.fround(maskThreshold);
        if (isIn) whole[k]!++;
        const weighted = Math.fround(probability * kept[k]!.score);
        if (!(weighted > best[x]!)) continue;
        best[x] = weighted;
        ids[from + x] = k;
        inside[from + x] = isIn ? 1 : 0;
      }
    }
    for (let x = from; x < from + size.width; x++) {
      const k = ids[x]!;
      if (k < 0) continue;
      own[k]!++;
      both[k]! += inside[x]!;
    }
  });
  const found = kept.map((_, k) => both[k]! > 0 && Math.fround(own[k]! / whole[k]!) > overlapThreshold);
  const { segments, idOf } = numbered(kept, found);
  for (let i = 0; i < ids.length; i++) ids[i] = ids[i]! >= 0 && inside[i] ? idOf[ids[i]!]! : -1;
  return { ...size, ids, segments };
}

type Counts = [Float64Array, Float64Array, Float64Array];

/** Every query with a mask and a score; later ones lie over earlier ones. */
async function instances(
  queries: Queries,
  image: Framed,
  { threshold, signal }: ShareOptions,
): Promise<SegmentMap> {
  const { original: size } = image;
  const ids = new Int16Array(size.height * size.width).fill(-1);
  const segments: Segment[] = [];
  const row = new Float32Array(size.width);
  for (const { label, score, mask } of bestClass(queries, 0, false)) {
    // The mask's own share is 1 at most.
    if (score < threshold) continue;
    const sampler = samplerOf(mask, image);
    let [sum, count] = [0, 0];
    await eachRow(size.height, signal, (y) => {
      sampler.row(y, row);
      for (const logit of row) {
        if (!(logit > 0)) continue;
        sum += sigmoid(logit);
        count++;
      }
    });
    const share = Math.fround(score * (sum / (count + 1e-6)));
    if (count === 0 || share < threshold) continue;
    const id = segments.length;
    segments.push({ id, label, score: Math.round(share * 1e6) / 1e6 });
    await eachRow(size.height, signal, (y) => {
      sampler.row(y, row);
      for (let x = 0; x < size.width; x++) if (row[x]! > 0) ids[y * size.width + x] = id;
    });
  }
  return { ...size, ids, segments };
}

/** Numbers from 0 on for those that are found, -1 for others. */
function numbered(
  kept: readonly Candidate[],
  found: readonly boolean[],
): { segments: Segment[]; idOf: Int16Array } {
  const segments: Segment[] = [];
  const idOf = new Int16Array(kept.length).fill(-1);
  for (const [k, { label, score }] of kept.entries()) {
    if (!found[k]) continue;
    idOf[k] = segments.length;
    segments.push({ id: segments.length, label, score: Math.round(score * 1e6) / 1e6 });
  }
  return { segments, idOf };
}
