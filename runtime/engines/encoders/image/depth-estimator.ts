import type { DepthEstimator } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { encodePng } from '../../../media/encode-png.js';
import type { Plane, RowSampler } from '../../processors/image/interpolate.js';
import { toFloat32 } from '../../sessions/tensors.js';
import { eachRow } from '../../../core/each-row.js';
import { depthRows } from './depth-rows.js';
import { openImageModel } from './image-model.js';

/** *ForDepthEstimation: pixel_values -> predicted_depth [1, h, w]. */
export async function loadDepthEstimator(request: LoadRequest): Promise<DepthEstimator> {
  const model = await openImageModel(request, ['predicted_depth']);
  return {
    async estimate(bytes, signal) {
      const { outputs, image } = await model.run(bytes, signal);
      const predicted = outputs['predicted_depth']!;
      const [height, width] = predicted.dims.slice(-2) as [number, number];
      const plane: Plane = { values: toFloat32(predicted), height, width };
      const rows = depthRows(model, { plane, outputs, original: image.original });
      const grey = await stretched(rows, signal);
      return {
        ...{ levels: levelsOf(plane.values), width },
        png: await encodePng({ data: grey, ...image.original, channels: 1 }),
      };
    },
  };
}

/** depth * 255 / max, cut to a byte as NumPy's astype does. */
function levelsOf(values: Float32Array): Uint8Array {
  const max = values.reduce((most, value) => Math.max(most, value), -Infinity);
  return Uint8Array.from(values, (value) => Math.trunc(Math.fround(Math.fround(value * 255) / max)));
}

/** The smallest value becomes 0, the largest 255. Rows are computed twice, since all of them as floats may be much. */
async function stretched(rows: RowSampler, signal: AbortSignal): Promise<Uint8Array> {
  const { height, width } = rows;
  const row = new Float32Array(width);
  let [min, max] = [Infinity, -Infinity];
  await eachRow(height, signal, (y) => {
    rows.row(y, row);
    for (const value of row) {
      min = Math.min(min, value);
      max = Math.max(max, value);
    }
  });
  const grey = new Uint8Array(height * width);
  const range = Math.fround(max - min);
  await eachRow(height, signal, (y) => {
    rows.row(y, row);
    for (let x = 0; x < width; x++)
      grey[y * width + x] = Math.trunc(Math.fround(Math.fround(Math.fround(row[x]! - min) / range) * 255));
  });
  return grey;
}
