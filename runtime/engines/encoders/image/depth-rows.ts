import {
  bicubicRows,
  bilinearRows,
  croppedRows,
  type Plane,
  type RowSampler,
} from '../../processors/image/interpolate.js';
import type { Edges } from '../../processors/image/sizes.js';
import { zoeMargin } from '../../processors/image/zoe-depth.js';
import { type Tensors, toFloat32 } from '../../sessions/tensors.js';
import type { ImageModel } from './image-model.js';

export interface Predicted {
  /** predicted_depth */
  plane: Plane;
  outputs: Tensors;
  /** Size of the image. */
  original: Edges;
}

const BICUBIC = 3;

/** Depths of an image's own size: `post_process_depth_estimation` of the image processor. */
export function depthRows(
  { processor, processing }: Pick<ImageModel, 'processor' | 'processing'>,
  predicted: Predicted,
): RowSampler {
  const { plane, original } = predicted;
  if (processor === 'Tipsv2Dpt') return bilinearRows(plane, original);
  if (processor === 'CHMv2') return bilinearRows(plane, original, true);
  if (processor === 'DepthPro') return nearness(predicted, processing['resample'] === BICUBIC);
  if (processor !== 'ZoeDepth' || processing['do_pad'] === false) return bicubicRows(plane, original);
  const { top, left } = zoeMargin(original);
  const padded = { height: original.height + 2 * top, width: original.width + 2 * left };
  return croppedRows(bicubicRows(plane, padded), { top, left }, original);
}

const [NEAREST, FARTHEST] = [1e-4, 1e4];

/** Depth Pro: one by the depth, which the field of view scales where the model gives one. */
function nearness({ plane, outputs, original }: Predicted, cubic: boolean): RowSampler {
  const fov = outputs['field_of_view'];
  const scale = fov ? original.width / focalLength(toFloat32(fov)[0]!, original.width) : 1;
  const scaled = { ...plane, values: plane.values.map((depth) => depth * scale) };
  const rows = cubic ? bicubicRows(scaled, original) : bilinearRows(scaled, original);
  return {
    ...original,
    row(y, target) {
      rows.row(y, target);
      for (let x = 0; x < original.width; x++)
        target[x] = 1 / Math.min(FARTHEST, Math.max(NEAREST, target[x]!));
    },
  };
}

/** In pixels. @param degrees field of view */
const focalLength = (degrees: number, width: number): number =>
  (0.5 * width) / Math.tan((0.5 * degrees * Math.PI) / 180);
