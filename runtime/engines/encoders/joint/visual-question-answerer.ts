import { RunError } from '../../../core/errors.js';
import type { VisualQuestionAnswerer } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { firstNumber } from '../../repository/model-folder.js';
import { labelsOf } from '../../repository/labels.js';
import { toLogits } from '../../sessions/tensors.js';
import { openJointModel } from './joint-model.js';

/** ViLT: input_ids, token_type_ids, pixel_values, pixel_mask -> logits [1, answers]. */
export async function loadVisualQuestionAnswerer(request: LoadRequest): Promise<VisualQuestionAnswerer> {
  const model = await openJointModel(request, 'logits');
  const most = firstNumber(model.config, 'max_position_embeddings') ?? Infinity;
  return {
    async answer({ image, question, truncate }, signal) {
      const row = model.tokenizer.encode(
        question,
        truncate ? { maxLength: model.tokenizer.modelMaxLength } : {},
      );
      if (row.ids.length > most)
        throw new RunError(
          'unprocessable',
          `the question has ${row.ids.length} tokens; the model takes ${most}`,
        );
      const text = model.textFeeds([row]);
      const prepared = await model.readImage(image, signal);
      const outputs = await model.run({ ...text, ...model.imageFeeds(prepared) }, signal);
      const logits = toLogits(outputs['logits']!);
      return { logits, labels: labelsOf(model.config, logits.length), problem: 'multi_label' };
    },
  };
}
