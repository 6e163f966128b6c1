import { RunError } from '../../core/errors.js';
import type { MediaChat, MediaMessage } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import { readProcessorConfig } from '../processors/image/processor-config.js';
import { type Json, readOptionalJson, textConfig } from '../repository/model-folder.js';
import { readersIn } from '../repository/named-readers.js';
import { encoderPositions } from '../repository/sequence-lengths.js';
import { tokenText } from '../tokenizers/tokenizer-json.js';
import { loadTokenizer } from '../tokenizers/tokenizer.js';
import { openEmbeddingEncoder } from './decoding/encoder-decoder/embedding-encoder.js';
import { openEncoderDecoder } from './decoding/encoder-decoder/open-encoder-decoder.js';
import { decoderStartToken, generateFromSource } from './generate-from-source.js';
import { createGrammars } from './grammar/grammars.js';
import { florenceSentence } from './prompts/media/florence2.js';
import { createLlavaFamily } from './prompts/media/llava.js';
import { mediaPrompt } from './prompts/media/media-prompt.js';
import { openImageEncoder } from './prompts/media/media-encoders.js';
import { refuseParsing } from './refuse-parsing.js';

/** Florence-2: an encoder reads one image and a sentence about it; conversations it can't hold. */
export async function loadFlorenceChat(request: LoadRequest, config: Json): Promise<MediaChat> {
  const { dir } = request;
  const { positions } = readersIn(request);
  const [tokenizer, generation, processing, processor, decoder] = await Promise.all([
    loadTokenizer(dir),
    readOptionalJson(dir, 'generation_config.json'),
    readProcessorConfig(request, config),
    readOptionalJson(dir, 'processor_config.json'),
    openEncoderDecoder(request, textConfig(config), openEmbeddingEncoder),
  ]);
  // An image of one size, whose features stand in a row: as in LLaVA.
  const family = createLlavaFamily({ config, processing, processor: processor ?? {}, tokenizer });
  const vision = await openImageEncoder(request, family);
  const text = textConfig(config);
  const grammars = createGrammars(tokenizer, request.memory);
  const model = { decoder, tokenizer, grammars, config: text, positions, repository: generation ?? config };
  const [bos, eos] = ['bos_token', 'eos_token'].map((name) => tokenText(tokenizer.config[name]));
  const cleanUp = tokenizer.config['clean_up_tokenization_spaces'] === true;
  return {
    async *chat(messages, _, options, signal) {
      refuseParsing(options);
      const asked = questionOf(messages);
      const sentence = florenceSentence(asked.text);
      const start = [decoderStartToken(options, model.repository)];
      const image = await vision.encode(asked.image, { sampling: {}, images: 1, signal });
      const written = `${family.expand(image)}${bos}${sentence}${eos}`;
      const { ids } = tokenizer.encode(written, { specialTokens: false });
      checkLength(ids.length, encoderPositions(text, positions));
      const source = mediaPrompt({ tokenIds: [family.tokenId] }, ids, [image]);
      const asking = { source, sourceTokens: ids, prompt: start };
      return yield* generateFromSource(model, { ...asking, options, cleanUp, signal });
    },
  };
}

/** @throws RunError 422 other than one message with one image */
function questionOf(messages: readonly MediaMessage[]): { image: Uint8Array; text: string } {
  const [message] = messages;
  const blocks = Array.isArray(message?.content) ? message.content : [];
  const images = blocks.flatMap((block) => (block.type === 'image' ? [block.bytes] : []));
  if (messages.length !== 1 || message?.role !== 'user' || images.length !== 1)
    throw new RunError(
      'unprocessable',
      'this model reads one message of the user, with one image and a text',
    );
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return { image: images[0]!, text: texts.join('') };
}

function checkLength(tokens: number, most: number): void {
  if (tokens <= most) return;
  throw new RunError(
    'unprocessable',
    `image and text have ${tokens} tokens; this model takes ${most}: shorten the text`,
  );
}
