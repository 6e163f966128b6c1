import type { SequenceClassifier } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { toLogits } from '../../sessions/tensors.js';
import { labelsOf, problemOf } from '../../repository/labels.js';
import { lowerLimit } from './encoder/input-limits.js';
import { padToLimit } from './encoder/pad-row.js';
import { openTextModel } from './encoder/text-encoder.js';

/** *ForSequenceClassification: logits [1, labels] over a whole text. */
export async function loadSequenceClassifier(request: LoadRequest): Promise<SequenceClassifier> {
  const { config, tokenizer, encoder, limits } = await openTextModel(request, 'logits');
  const problem = problemOf(config);
  return {
    async classify(text, { maxLength, padded, signal, ...options } = {}) {
      const longest = lowerLimit(limits.text, maxLength);
      const row = await tokenizer.encode(text, { ...options, maxLength: longest }, signal);
      const whole = padded ? padToLimit(tokenizer, row, { maxLength, limits }) : row;
      const logits = toLogits((await encoder.forward(whole, signal))['logits']!);
      return { logits, labels: labelsOf(config, logits.length), problem };
    },
  };
}
