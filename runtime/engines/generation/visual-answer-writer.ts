import { RunError } from '../../core/errors.js';
import type { VisualAnswerWriter } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import { decoderPositions } from '../repository/sequence-lengths.js';
import { openQuestionEncoder } from './decoding/encoder-decoder/question-encoder.js';
import { decoderStartToken, generateFromSource, lastOf } from './generate-from-source.js';
import { openImageSourceModel } from './image-source.js';

/** BlipForQuestionAnswering. */
export async function loadVisualAnswerWriter(request: LoadRequest): Promise<VisualAnswerWriter> {
  const model = await openImageSourceModel(request, openQuestionEncoder);
  const { tokenizer } = model;
  const most = decoderPositions(model.config, model.positions);
  const cleanUp = tokenizer.config['clean_up_tokenization_spaces'] === true;
  return {
    async answer({ image, question, truncate }, signal) {
      const { ids } = tokenizer.encode(question, truncate ? { maxLength: tokenizer.modelMaxLength } : {});
      if (ids.length > most) {
        throw new RunError('unprocessable', `the question has ${ids.length} tokens; the model takes ${most}`);
      }
      const source = { image: await model.readImage(image, signal), question: ids };
      const prompt = [decoderStartToken({}, model.repository)];
      const answers = generateFromSource(model, {
        ...{ source, sourceTokens: ids, prompt, options: {}, cleanUp, signal },
      });
      const [found] = await lastOf(answers);
      return { ...found!, text: found!.text.trim() };
    },
  };
}
