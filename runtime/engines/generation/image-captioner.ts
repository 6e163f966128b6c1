import type { ImageCaptioner } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import { decoderStartToken, generateFromSource } from './generate-from-source.js';
import { openPictureSourceModel } from './picture-source.js';

/** VisionEncoderDecoderModel (ViT-GPT2, TrOCR), BlipForConditionalGeneration. */
export async function loadImageCaptioner(request: LoadRequest): Promise<ImageCaptioner> {
  const model = await openPictureSourceModel(request);
  const cleanUp = model.tokenizer.config['clean_up_tokenization_spaces'] === true;
  return {
    async *describe(image, options, signal) {
      const prompt = [decoderStartToken(options, model.repository)];
      const source = await model.readPicture(image, signal);
      return yield* generateFromSource(model, { source, sourceTokens: [], prompt, options, cleanUp, signal });
    },
  };
}
