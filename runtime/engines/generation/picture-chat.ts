import { RunError } from '../../core/errors.js';
import type { ChatMessage, PictureChat, PictureMessage } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import { loadChatTemplate } from '../chat-templates/chat-template.js';
import { readProcessorConfig } from '../processors/image/processor-config.js';
import { readJson, readOptionalJson } from '../repository/model-folder.js';
import { tokenText } from '../tokenizers/tokenizer-json.js';
import { loadTokenizer } from '../tokenizers/tokenizer.js';
import { openDecoder } from './decoding/open-decoder.js';
import { loadFlorenceChat } from './florence-chat.js';
import { checkPrompt, generateFromPrompt, type PromptModel } from './generate-from-prompt.js';
import { createPictureFamily } from './prompts/pictures/families.js';
import type { PictureLayout } from './prompts/pictures/family.js';
import { expandPictures, picturePrompt } from './prompts/pictures/picture-prompt.js';
import { type EncodedPicture, openVisionEncoder } from './prompts/pictures/vision-encoder.js';
import { withoutReserved } from './prompts/pictures/vision-memory.js';
import { contextLimitOf } from './settings/answer-length.js';

/** Language models that read pictures among words. */
export async function loadPictureChat(request: LoadRequest): Promise<PictureChat> {
  const { dir } = request;
  const config = await readJson(dir, 'config.json');
  if (config['model_type'] === 'florence2') return loadFlorenceChat(request, config);
  const [tokenizer, generation, processing, processor] = await Promise.all([
    loadTokenizer(dir),
    readOptionalJson(dir, 'generation_config.json'),
    readProcessorConfig(dir, config),
    readOptionalJson(dir, 'processor_config.json'),
  ]);
  const family = createPictureFamily({ config, processing, processor: processor ?? {}, tokenizer });
  const template = await loadChatTemplate(dir, tokenizer.config);
  if (!template) throw new RunError('not_ready', 'the model has no chat template');
  // One after the other: what pictures need is set aside before the decoder divides the rest.
  const vision = await openVisionEncoder(request, config, family);
  const decoder = await openDecoder(withoutReserved(request, vision.memory), config);
  const model: PromptModel = {
    ...{ decoder, tokenizer, repository: generation ?? config },
    ...contextLimitOf(config, decoder),
  };
  const bos = tokenText(tokenizer.config['bos_token']);
  const cleanUp = tokenizer.config['clean_up_tokenization_spaces'] === true;
  return {
    async *chat(messages, variables, options, signal) {
      const continues = options.continue_final_message ?? messages.at(-1)?.role === 'assistant';
      const written = template.render(asTemplateReads(messages, template.source), { variables, continues });
      const images = picturesOf(messages);
      const layouts: PictureLayout[] = [];
      for (const image of images) layouts.push(await vision.measure(image));
      const text = expandPictures(family, written, layouts);
      // A template that writes the start token itself wants no second one.
      const specialTokens = bos === '' || !text.startsWith(bos);
      const { ids } = tokenizer.encode(text, { specialTokens });
      checkPrompt(model, { tokens: ids, options });
      const pictures: EncodedPicture[] = [];
      for (const image of images) pictures.push(await vision.encode(image, signal));
      const prompt = picturePrompt(family, ids, pictures);
      return yield* generateFromPrompt(model, { prompt, options, cleanUp, signal });
    },
  };
}

function picturesOf(messages: readonly PictureMessage[]): Uint8Array[] {
  return messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.flatMap((block) => (block.type === 'image' ? [block.image] : [])) : [],
  );
}

/** Templates of such models loop over blocks; most of them take plain texts, too. */
function asTemplateReads(messages: readonly PictureMessage[], source: string): ChatMessage[] {
  const takesTexts = /\bis\s+string\b/.test(source);
  return messages.map(({ content, ...rest }) => {
    if (typeof content === 'string')
      return { ...rest, content: takesTexts ? content : [{ type: 'text', text: content }] };
    const blocks = content?.map((block) => (block.type === 'image' ? { type: 'image' } : block));
    return { ...rest, content: blocks };
  });
}
