import { RunError } from '../../core/errors.js';
import type { ImageCaptioner } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import { openImageEncoder } from './decoding/encoder-decoder/image-encoder.js';
import { decoderStartToken, generateFromSource } from './generate-from-source.js';
import { openImageSourceModel, type ImageSourceModel } from './image-source.js';

/** VisionEncoderDecoderModel (ViT-GPT2, TrOCR), BlipForConditionalGeneration, GitForCausalLM. */
export async function loadImageCaptioner(request: LoadRequest): Promise<ImageCaptioner> {
  const model = await openImageSourceModel(request, openImageEncoder);
  const cleanUp = model.tokenizer.config['clean_up_tokenization_spaces'] === true;
  return {
    async *describe(image, { prompt: text, ...options }, signal) {
      const start = decoderStartToken(options, model.repository);
      const prompt = [start, ...continuedTokens(model, text)];
      const source = await model.readImage(image, signal);
      return yield* generateFromSource(model, { source, sourceTokens: [], prompt, options, cleanUp, signal });
    },
  };
}

/** A text that the description goes on with: its tokens without special ones. BLIP takes the first and last for such. */
function continuedTokens(
  { tokenizer, captions }: ImageSourceModel<unknown>,
  text: string | null | undefined,
): number[] {
  if (text === undefined || text === null) return [];
  if (captions === 'blip') return tokenizer.encode(text).ids.slice(1, -1);
  if (captions === 'git') return tokenizer.encode(text, { specialTokens: false }).ids;
  throw new RunError('unprocessable', `params.prompt: this model can't go on with a text`);
}
