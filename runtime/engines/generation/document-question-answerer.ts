import { RunError } from '../../core/errors.js';
import type { DocumentQuestionAnswerer } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import { decoderPositions } from '../repository/sequence-lengths.js';
import { generateFromSource, lastOf } from './generate-from-source.js';
import { openImageEncoder } from './decoding/encoder-decoder/image-encoder.js';
import { openImageSourceModel } from './image-source.js';

const ANSWER = /<s_answer>(.*)<\/s_answer>/;

/** Donut: the question is the beginning of what the decoder writes. */
export async function loadDocumentQuestionAnswerer(request: LoadRequest): Promise<DocumentQuestionAnswerer> {
  const model = await openImageSourceModel(request, openImageEncoder);
  const { tokenizer } = model;
  const most = decoderPositions(model.config, model.positions);
  return {
    async answer({ image, question }, signal) {
      const text = `<s_docvqa><s_question>${question}</s_question><s_answer>`;
      const prompt = tokenizer.encode(text, { specialTokens: false }).ids;
      if (prompt.length >= most)
        throw new RunError(
          'unprocessable',
          `the question has ${prompt.length} tokens; the model takes ${most}`,
        );
      const source = await model.readImage(image, signal);
      const options = { skip_special_tokens: false };
      const answers = generateFromSource(model, { source, sourceTokens: [], prompt, options, signal });
      return answerIn((await lastOf(answers))[0]!.text, model.repository, tokenizer);
    },
  };
}

type Tokenizer = Awaited<ReturnType<typeof openImageSourceModel>>['tokenizer'];

/** What stands between the marks of the answer, without tokens that end or fill a text. */
function answerIn(
  text: string,
  repository: Record<string, unknown>,
  tokenizer: Tokenizer,
): string | undefined {
  const marks = ['eos_token_id', 'pad_token_id'].flatMap((name) => {
    const id = [repository[name]].flat()[0];
    return typeof id === 'number'
      ? [tokenizer.decode([id], { cleanUp: false, skipSpecialTokens: false })]
      : [];
  });
  const bare = marks.reduce((rest, mark) => (mark === '' ? rest : rest.replaceAll(mark, '')), text);
  return ANSWER.exec(bare)?.[1]?.trim();
}
