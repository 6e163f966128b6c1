import type { Edges } from '../../../processors/image/sizes.js';
import { bilinearRows, type Plane } from '../../../processors/image/interpolate.js';
import { eachRow } from '../../../../core/each-row.js';
import type { SegmentMap } from './segment-map.js';

/**
 * The class with the highest score for each pixel, after the scores have been enlarged to the image's size.
 * @param planes scores of each class
 * @returns the classes that are there, by their index
 */
export async function semanticMap(
  planes: readonly Plane[],
  size: Edges,
  signal: AbortSignal,
): Promise<SegmentMap> {
  const samplers = planes.map((plane) => bilinearRows(plane, size));
  const ids = new Int16Array(size.height * size.width);
  const [row, best] = [new Float32Array(size.width), new Float32Array(size.width)];
  const found = new Set<number>();
  await eachRow(size.height, signal, (y) => {
    best.fill(-Infinity);
    const line = ids.subarray(y * size.width, (y + 1) * size.width);
    for (const [label, sampler] of samplers.entries()) {
      sampler.row(y, row);
      for (let x = 0; x < size.width; x++) {
        if (!(row[x]! > best[x]!)) continue;
        best[x] = row[x]!;
        line[x] = label;
      }
    }
    for (const label of line) found.add(label);
  });
  const labels = [...found].sort((a, b) => a - b);
  return { ...size, ids, segments: labels.map((label) => ({ id: label, label, score: undefined })) };
}
