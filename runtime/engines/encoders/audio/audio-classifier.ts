import type { AudioClassifier } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { labelsOf, problemOf } from '../../repository/labels.js';
import { toLogits } from '../../sessions/tensors.js';
import { openAudioModel } from './audio-model.js';

/** *ForSequenceClassification over audio clips: input_values or input_features -> logits [1, labels]. */
export async function loadAudioClassifier(request: LoadRequest): Promise<AudioClassifier> {
  const { config, samples, run } = await openAudioModel(request, 'logits');
  return {
    async classify(bytes, signal) {
      const outputs = await run(await samples(bytes, signal), signal);
      const logits = toLogits(outputs['logits']!);
      return { logits, labels: labelsOf(config, logits.length), problem: problemOf(config) };
    },
  };
}
