import type { Json } from '../repository/model-folder.js';
import type { LlamaModel } from './llama.js';

/** Names of further templates that are looked for. */
const NAMED = ['tool_use', 'rag'];

/** Chat templates of a file, as tokenizer_config.json has them. */
export function templatesOf({ metadata }: Pick<LlamaModel, 'metadata'>): Json {
  const usual = metadata('tokenizer.chat_template');
  if (usual === undefined) return {};
  const named = NAMED.flatMap((name) => {
    const template = metadata(`tokenizer.chat_template.${name}`);
    return template === undefined ? [] : [{ name, template }];
  });
  return { chat_template: [{ name: 'default', template: usual }, ...named] };
}
