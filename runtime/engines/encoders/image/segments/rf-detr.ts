import { eachRow } from '../../../../core/each-row.js';
import { RunError } from '../../../../core/errors.js';
import type { SegmentOptions } from '../../../../core/handles/index.js';
import { bilinearRows } from '../../../processors/image/interpolate.js';
import type { Edges } from '../../../processors/image/sizes.js';
import type { Tensors } from '../../../sessions/tensors.js';
import { sigmoid } from '../../boxes.js';
import { type LogitQueries, readLogitQueries } from './queries.js';
import type { Segment, SegmentMap } from './segment-map.js';

/**
 * RF-DETR: as many pairs of query and class as there are queries, the most probable first; each has the pixels of its mask that
 * none before it has. Thresholds of masks are of logits. post_process_instance_segmentation of its processor
 * @throws RunError 422 for other segments than instances, on which Python fails
 */
export async function rfDetrMap(
  outputs: Tensors,
  size: Edges,
  { threshold, maskThreshold, subtask, signal }: SegmentOptions & { signal: AbortSignal },
): Promise<SegmentMap> {
  if (subtask && subtask !== 'instance')
    throw new RunError(
      'unprocessable',
      `params.subtask: the model does instance segmentation, not ${subtask}`,
    );
  const queries = readLogitQueries(outputs);
  const ids = new Int16Array(size.height * size.width).fill(-1);
  const segments: Segment[] = [];
  const row = new Float32Array(size.width);
  for (const { query, label, score } of bestPairs(queries, threshold)) {
    const id = segments.length;
    const rows = bilinearRows(queries.masks[query]!, size);
    let painted = 0;
    await eachRow(size.height, signal, (y) => {
      rows.row(y, row);
      const from = y * size.width;
      for (let x = 0; x < size.width; x++) {
        if (!(row[x]! > maskThreshold) || ids[from + x] !== -1) continue;
        ids[from + x] = id;
        painted++;
      }
    });
    if (painted > 0) segments.push({ id, label, score: Math.round(score * 1e6) / 1e6 });
  }
  return { ...size, ids, segments };
}

interface Pair {
  query: number;
  label: number;
  score: number;
}

function bestPairs({ logits }: LogitQueries, threshold: number): Pair[] {
  const pairs = logits.flatMap((scores, query) =>
    Array.from(scores, (logit, label): Pair => ({ query, label, score: sigmoid(logit) })),
  );
  return pairs
    .sort((a, b) => b.score - a.score)
    .slice(0, logits.length)
    .filter(({ score }) => score > Math.fround(threshold));
}
