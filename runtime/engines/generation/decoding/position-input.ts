import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { integers, shapeOf } from '../../sessions/tensors.js';

/** Axes on which a decoder counts positions: 1, or 3 for time, height and width (M-RoPE). */
export function positionAxes(session: InferenceSession): number {
  const [first, ...rest] = shapeOf(session, 'position_ids');
  return rest.length === 2 && typeof first === 'number' ? first : 1;
}

/** @param rows for each row its positions on each axis */
export function positionTensor(
  session: InferenceSession,
  rows: readonly (readonly (readonly number[])[])[],
): Tensor {
  const axes = rows[0]!.length;
  const values = Array.from({ length: axes }, (_, axis) => rows.flatMap((row) => row[axis]!)).flat();
  const dims = [rows.length, rows[0]![0]!.length];
  const isNested = shapeOf(session, 'position_ids').length === 3;
  return integers(session, 'position_ids', values, isNested ? [axes, ...dims] : dims);
}
