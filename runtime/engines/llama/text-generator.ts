import type { TextGenerator } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import { RunError } from '../../core/errors.js';
import { cacheBytesPerToken, ggufSizes } from '../../gguf/index.js';
import { createChatTemplate, namedTemplates } from '../chat-templates/chat-template.js';
import { createTextGenerator } from '../generation/create-text-generator.js';
import { createPromptEncoder } from '../tokenizers/patient-tokenizer.js';
import { createLlamaDecoder } from './decoder.js';
import { generationSettings } from './generation-settings.js';
import { openTextContext } from './open-context.js';
import { openModel } from './open-model.js';
import { rememberModel } from './opened-models.js';

/** A language model in GGUF, computed by llama.cpp. */
export async function loadLlamaTextGenerator(request: LoadRequest): Promise<TextGenerator> {
  const opened = await openModel(request);
  const { model, file, shape, tokenizer } = opened;
  if (model.encodesOnly)
    throw new RunError('not_ready', 'this model writes no texts: its attention sees what follows');
  const context = await openTextContext(opened, request.threads);
  const sizes = ggufSizes(file.metadata, file.tensors);
  const longest = Math.min(context.cells, sizes.exactLength || context.cells);
  const decoder = createLlamaDecoder({
    ...{ context, longest, rows: shape.rows, batch: shape.batch, outputs: shape.outputs },
    bytesPerToken: cacheBytesPerToken(sizes, shape.cacheType),
    keepsStates: model.keepsStates,
  });
  const tokenizerConfig = tokenizer.config;
  const templates = namedTemplates(tokenizerConfig['chat_template']);
  const template = createChatTemplate({ templates, tokenizerConfig });
  rememberModel(request.dir, opened, { template, maxLength: longest });
  return createTextGenerator({
    ...{ decoder, tokenizer, template, memory: request.memory },
    encode: createPromptEncoder(tokenizer, tokenizer.encodeAside),
    config: { vocab_size: model.vocabulary.size, max_position_embeddings: longest },
    generation: generationSettings(model),
  });
}
