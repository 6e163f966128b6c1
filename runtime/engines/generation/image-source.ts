import type { LoadRequest } from '../../core/load-request.js';
import type { ModelReaders } from '../../core/readers.js';
import { openImageInput } from '../images/image-input.js';
import type { ProcessedImage } from '../processors/image/image-processor.js';
import { type Json, readOptionalJson } from '../repository/model-folder.js';
import { readersIn } from '../repository/named-readers.js';
import { readModelConfig } from '../repository/model-config.js';
import { loadTokenizer } from '../tokenizers/tokenizer.js';
import { type OpenEncoder, openEncoderDecoder } from './decoding/encoder-decoder/open-encoder-decoder.js';
import type { SourceModel } from './generate-from-source.js';

/** An encoder of images, or of questions about them, with a decoder that writes text. */
export interface ImageSourceModel<Source> extends SourceModel<Source> {
  captions: ModelReaders['captions'];
  /** Decodes an image as memory allows. @throws RunError 413, 415, 422; the signal's reason */
  readImage(bytes: Uint8Array, signal: AbortSignal): Promise<ProcessedImage>;
}

/** Opens *EncoderDecoderModel and *ForConditionalGeneration over images. */
export async function openImageSourceModel<Source>(
  request: LoadRequest,
  openEncoder: OpenEncoder<Source>,
): Promise<ImageSourceModel<Source>> {
  const { dir } = request;
  const { captions, positions } = readersIn(request);
  const config = await readModelConfig(dir);
  const [tokenizer, generation, images, decoder] = await Promise.all([
    loadTokenizer(dir),
    readOptionalJson(dir, 'generation_config.json'),
    openImageInput(request, config),
    openEncoderDecoder(request, config, openEncoder),
  ]);
  return {
    ...{ decoder, tokenizer, config, captions, positions },
    repository: { ...(generation ?? config), ...ownEnds(config, generation ?? config, captions) },
    async readImage(bytes, signal) {
      const image = await images.read(bytes, signal);
      images.hasRun();
      return image;
    },
  };
}

/**
 * BLIP's texts begin and end with tokens of the text model, whatever generation_config.json says. GIT has no encoder in Python, and its
 * texts begin as those of any decoder.
 */
function ownEnds(config: Json, settings: Json, captions: ModelReaders['captions']): Json {
  if (captions === 'git') return { decoder_start_token_id: settings['bos_token_id'] };
  if (captions !== 'blip') return {};
  const text = (config['text_config'] ?? {}) as Json;
  return { decoder_start_token_id: text['bos_token_id'], eos_token_id: text['sep_token_id'] };
}
