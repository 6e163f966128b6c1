import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import type { LoadRequest } from '../../../../core/load-request.js';
import type { ProcessedImage } from '../../../processors/image/image-processor.js';
import { readProcessorConfig } from '../../../processors/image/processor-config.js';
import { readModelConfig } from '../../../repository/model-config.js';
import { integers, shapeOf } from '../../../sessions/tensors.js';
import { checkGraphInputs } from './check-graphs.js';
import type { Encoder } from './encoder.js';

/** Where settings name none. */
const MOST_PATCHES = 2048;

/**
 * Pix2Struct's encoder: flattened_patches [1, patches, width], attention_mask [1, patches] -> a state for each patch. Patches
 * are padded where the graph fixes their number.
 */
export async function patchEncoder(
  session: InferenceSession,
  request: Pick<LoadRequest, 'dir' | 'spec'>,
): Promise<Encoder<ProcessedImage>> {
  checkGraphInputs(session, (name) => name === 'flattened_patches' || name === 'attention_mask');
  const [output] = session.outputNames;
  const fixed = shapeOf(session, 'flattened_patches')[1];
  const lengthOf = ({ height }: ProcessedImage) => (typeof fixed === 'number' && fixed > 0 ? fixed : height);
  const { max_patches } = await readProcessorConfig(request, await readModelConfig(request.dir));
  return {
    maxLength: typeof max_patches === 'number' ? max_patches : MOST_PATCHES,
    lengthOf,
    seenOf: ({ height }) => height,
    async encode(image) {
      const { values, height, width } = image;
      const length = lengthOf(image);
      const padded = new Float32Array(length * width);
      padded.set(values);
      const mask = Array.from({ length }, (_, i) => (i < height ? 1 : 0));
      const feeds: Record<string, Tensor> = {
        flattened_patches: new ort.Tensor('float32', padded, [1, length, width]),
        ...(session.inputNames.includes('attention_mask')
          ? { attention_mask: integers(session, 'attention_mask', mask, [1, length]) }
          : {}),
      };
      return (await session.run(feeds, [output!]))[output!]!;
    },
  };
}
