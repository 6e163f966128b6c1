import { type Tensors, toLogits } from '../../../sessions/tensors.js';
import { bilinear, type Plane } from '../../../processors/image/interpolate.js';
import { sigmoid } from '../../boxes.js';
import { eachRow } from '../../../../core/each-row.js';
import { probabilities } from '../../probabilities.js';

/** What models that find masks by queries give: each query's classes, and its mask. */
export interface Queries {
  /** Probability of each class for each query; the last class stands for "nothing". */
  classes: Float32Array[];
  /** Logits. */
  masks: Plane[];
}

/** The same where classes are told one by one, and none stands for "nothing". */
export interface LogitQueries extends Pick<Queries, 'masks'> {
  /** Of each class for each query. */
  logits: Float32Array[];
}

/** Undefined for outputs that are none of queries. */
export function readQueries(outputs: Tensors): Queries | undefined {
  const found = logitQueries(outputs);
  return found && { classes: found.logits.map((scores) => probabilities(scores)), masks: found.masks };
}

/** Of outputs that are those of queries. */
export const readLogitQueries = (outputs: Tensors): LogitQueries => logitQueries(outputs)!;

function logitQueries(outputs: Tensors): LogitQueries | undefined {
  const [logits, found] = [
    outputs['class_queries_logits'] ?? outputs['logits'],
    outputs['masks_queries_logits'] ?? outputs['pred_masks'],
  ];
  if (!logits || !found) return undefined;
  const [count, width] = logits.dims.slice(-2) as [number, number];
  const [height, columns] = found.dims.slice(-2) as [number, number];
  const [scores, values] = [toLogits(logits), toLogits(found)];
  const rows = Array.from({ length: count }, (_, query) => query);
  const planes = rows.map((query) => ({
    values: values.subarray(query * height * columns, (query + 1) * height * columns),
    ...{ height, width: columns },
  }));
  return {
    logits: rows.map((query) => scores.subarray(query * width, (query + 1) * width)),
    masks: planes,
  };
}

/** The same queries with masks of `edge` x `edge` pixels. */
export async function enlargeMasks(queries: Queries, edge: number, signal: AbortSignal): Promise<Queries> {
  const masks: Plane[] = [];
  await eachRow(queries.masks.length, signal, (query) => {
    masks.push(bilinear(queries.masks[query]!, { height: edge, width: edge }));
  });
  return { ...queries, masks };
}

/** Probabilities of a mask's pixels. */
export const maskProbabilities = ({ values, height, width }: Plane): Plane => ({
  ...{ height, width },
  values: values.map(sigmoid),
});

/** Scores of each class for each pixel: the sum over all queries of what both say. "Nothing" is no class. */
export async function classPlanes({ classes, masks }: Queries, signal: AbortSignal): Promise<Plane[]> {
  const { height, width } = masks[0]!;
  const planes = Array.from({ length: classes[0]!.length - 1 }, () => ({
    ...{ height, width },
    values: new Float32Array(height * width),
  }));
  for (const [query, mask] of masks.entries()) {
    const { values: probability } = maskProbabilities(mask);
    await eachRow(planes.length, signal, (label) => {
      const [weight, { values }] = [classes[query]![label]!, planes[label]!];
      for (let i = 0; i < values.length; i++) values[i]! += weight * probability[i]!;
    });
  }
  return planes;
}
