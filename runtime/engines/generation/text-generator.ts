import type { TextGenerator } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import { readOptionalJson } from '../repository/model-folder.js';
import { readersIn } from '../repository/named-readers.js';
import { readModelConfig } from '../repository/model-config.js';
import { loadTokenizer } from '../tokenizers/tokenizer.js';
import { loadChatTemplate } from '../chat-templates/chat-template.js';
import { openPromptEncoder } from '../long-texts/thread-aside.js';
import { createTextGenerator } from './create-text-generator.js';
import { openDecoder } from './decoding/open-decoder.js';

/** Decoder-only language models with a key-value cache (…ForCausalLM). */
export async function loadTextGenerator(request: LoadRequest): Promise<TextGenerator> {
  const config = await readModelConfig(request.dir);
  const [tokenizer, generation, decoder] = await Promise.all([
    loadTokenizer(request.dir),
    readOptionalJson(request.dir, 'generation_config.json'),
    openDecoder(request, config),
  ]);
  const template = await loadChatTemplate(request.dir, tokenizer.config);
  const encode = openPromptEncoder(request, tokenizer);
  const { positions } = readersIn(request);
  return createTextGenerator({
    ...{ config, positions, tokenizer, encode, generation, decoder, template },
    memory: request.memory,
  });
}
