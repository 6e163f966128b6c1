import { type Tensors, toFloat32 } from '../../../sessions/tensors.js';
import { bilinear, type Plane } from '../../../processors/image/interpolate.js';
import { sigmoid } from '../../boxes.js';
import { probabilities } from '../../probabilities.js';

/** What models that find masks by queries give: each query's classes, and its mask. */
export interface Queries {
  /** Probability of each class for each query; the last class stands for "nothing". */
  classes: Float32Array[];
  /** Logits. */
  masks: Plane[];
}

/** Undefined for outputs that are none of queries. */
export function readQueries(outputs: Tensors, maskSize?: number): Queries | undefined {
  const [logits, found] = [
    outputs['class_queries_logits'] ?? outputs['logits'],
    outputs['masks_queries_logits'] ?? outputs['pred_masks'],
  ];
  if (!logits || !found) return undefined;
  const [count, width] = logits.dims.slice(-2) as [number, number];
  const [height, columns] = found.dims.slice(-2) as [number, number];
  const [scores, values] = [toFloat32(logits), toFloat32(found)];
  const rows = Array.from({ length: count }, (_, query) => query);
  const planes = rows.map((query) => ({
    values: values.subarray(query * height * columns, (query + 1) * height * columns),
    ...{ height, width: columns },
  }));
  return {
    classes: rows.map((query) => probabilities(scores.subarray(query * width, (query + 1) * width))),
    masks: maskSize === undefined ? planes : planes.map((plane) => bilinear(plane, square(maskSize))),
  };
}

const square = (edge: number) => ({ height: edge, width: edge });

/** Probabilities of a mask's pixels. */
export const maskProbabilities = ({ values, height, width }: Plane): Plane => ({
  ...{ height, width },
  values: values.map(sigmoid),
});

/** Scores of each class for each pixel: the sum over all queries of what both say. "Nothing" is no class. */
export function classPlanes({ classes, masks }: Queries): Plane[] {
  const { height, width } = masks[0]!;
  const maskPlanes = masks.map(maskProbabilities);
  return Array.from({ length: classes[0]!.length - 1 }, (_, label) => {
    const values = new Float32Array(height * width);
    for (const [query, { values: mask }] of maskPlanes.entries()) {
      const weight = classes[query]![label]!;
      for (let i = 0; i < values.length; i++) values[i]! += weight * mask[i]!;
    }
    return { values, height, width };
  });
}
