import type { ImageClassifier } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { labelsOf, problemOf } from '../../repository/labels.js';
import { toLogits } from '../../sessions/tensors.js';
import { openImageModel } from './image-model.js';

/** *ForImageClassification: pixel_values [1, 3, h, w] -> logits [1, labels]. */
export async function loadImageClassifier(request: LoadRequest): Promise<ImageClassifier> {
  const { config, run } = await openImageModel(request, ['logits']);
  // Image pipelines have no raw mode for regression heads: one label is a sigmoid (ImageClassificationPipeline).
  const problem = problemOf(config) === 'multi_label' ? 'multi_label' : 'single_label';
  return {
    async classify(bytes, signal) {
      const { outputs } = await run(bytes, signal);
      const logits = toLogits(outputs['logits']!);
      return { logits, labels: labelsOf(config, logits.length), problem };
    },
  };
}
