import { RunError } from '../../../core/errors.js';
import type { ImageFeatureExtractor } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { toFloat32 } from '../../sessions/tensors.js';
import { openImageModel } from './image-model.js';

/** *Model: pixel_values -> last_hidden_state [1, …], and for some pooler_output [1, hidden]. */
export async function loadImageFeatureExtractor(request: LoadRequest): Promise<ImageFeatureExtractor> {
  const model = await openImageModel(request);
  return {
    async extract(bytes, pool, signal) {
      const { outputs } = await model.run(bytes, signal);
      if (pool) {
        const pooled = outputs['pooler_output'];
        // A vector; networks of convolutions keep axes of one line and one column behind it, and so does Python.
        if (pooled) return { values: toFloat32(pooled), dims: [...pooled.dims] };
        throw new RunError('unprocessable', 'params.pool: the model gives no pooled output');
      }
      const states = outputs['last_hidden_state'] ?? Object.values(outputs)[0]!;
      return { values: toFloat32(states), dims: states.dims.slice(1) };
    },
  };
}
