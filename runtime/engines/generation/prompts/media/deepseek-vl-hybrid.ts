import { RunError } from '../../../../core/errors.js';
import { barsOf, createBarredProcessor } from '../../../processors/image/deepseek-vl.js';
import { CLIP } from '../../../processors/image/levels.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { createDeepseekVlFamily } from './deepseek-vl.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { pixelValues } from './pixel-values.js';

/** Edges of large squares and of their patches, where the files do not say. */
const [EDGE, PATCH] = [1024, 16];

/**
 * DeepSeek-VL with two encoders: a large square, and a small one that is made of it.
 * @throws RunError not_ready as DeepSeek-VL's, and where the large square is not that of the network
 */
export function createDeepseekVlHybridFamily(files: FamilyFiles): ImageFamily {
  const { config, processing } = files;
  const family = createDeepseekVlFamily(files);
  const small = createBarredProcessor(processing);
  // As transformers 4.57 has it, both have bars of the small one's means.
  const large = createBarredProcessor(largeOf(processing), { bars: barsOf(processing) });
  const vision = (config['high_res_vision_config'] ?? {}) as Json;
  const edge = firstNumber(vision, 'image_size') ?? EDGE;
  if (large.edge !== edge)
    throw new RunError(
      'not_ready',
      'preprocessor_config.json: high_res_size is not image_size of config.json',
    );
  const patches = Math.floor(edge / (firstNumber(vision, 'patch_size') ?? PATCH)) ** 2;
  const layout = { ...family.layout({ height: edge, width: edge }), patches };
  return {
    ...{ ...family, mostPatches: patches },
    layout: () => layout,
    prepare(image) {
      const square = large.square(image);
      const low = small.process(square);
      return [
        () => ({ ...valuesOf(low, small.edge), high_res_pixel_values: high(large.values(square), edge) }),
      ];
    },
  };
}

const valuesOf = (values: Float32Array, edge: number) => pixelValues(values, { height: edge, width: edge });

const high = (values: Float32Array, edge: number) => valuesOf(values, edge)['pixel_values']!;

/** Settings of large squares under the names of small ones. */
const largeOf = (processing: Json): Json => ({
  ...processing,
  size: processing['high_res_size'] ?? { height: EDGE, width: EDGE },
  resample: processing['high_res_resample'],
  image_mean: processing['high_res_image_mean'] ?? CLIP.image_mean,
  image_std: processing['high_res_image_std'] ?? CLIP.image_std,
});
