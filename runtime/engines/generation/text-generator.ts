import { RunError } from '../../core/errors.js';
import type { GeneratedText, GenerateOptions, TextGenerator } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import { type Json, readJson, readOptionalJson } from '../repository/model-folder.js';
import { loadTokenizer, type TextTokenizer } from '../tokenizers/tokenizer.js';
import { loadChatTemplate } from '../chat-templates/chat-template.js';
import type { Decoder } from './decoding/decoder.js';
import { openDecoder } from './decoding/open-decoder.js';
import { generate, rowsOf } from './generate.js';
import { contextOf, newTokens } from './settings/limits.js';
import { readSettings } from './settings/settings.js';
import { withStopTokens } from './settings/stop-tokens.js';

interface Model {
  decoder: Decoder;
  tokenizer: TextTokenizer;
  /** generation_config.json, or config.json where there is none, under the task's own parameters. */
  repository: Json;
  contextLength: number | undefined;
  hardLimit: boolean;
}

/** Decoder-only language models with a key-value cache (…ForCausalLM). */
export async function loadTextGenerator(request: LoadRequest): Promise<TextGenerator> {
  const config = await readJson(request.dir, 'config.json');
  const [tokenizer, generation, decoder] = await Promise.all([
    loadTokenizer(request.dir),
    readOptionalJson(request.dir, 'generation_config.json'),
    openDecoder(request, config),
  ]);
  const template = await loadChatTemplate(request.dir, tokenizer.config);
  const own = taskParams(config);
  const model: Model = {
    ...{ decoder, tokenizer },
    repository: { ...(generation ?? config), ...own },
    ...contextOf(config, decoder),
  };
  const prefix = String(own['prefix'] ?? config['prefix'] ?? '');
  return {
    hasChatTemplate: template !== undefined,
    generate(text, options, signal) {
      const specialTokens = options.add_special_tokens ?? undefined;
      const before = options.prefix ?? prefix;
      const { ids } = tokenizer.encode(before + text, {
        specialTokens,
        maxLength: cutAt(tokenizer, options),
      });
      const prefixLength = tokenizer.encode(before, { specialTokens: specialTokens ?? false }).ids.length;
      return continued(model, { prompt: withStart(ids, model), prefixLength, options, signal });
    },
    chat(messages, variables, options, signal) {
      if (!template) throw new RunError('unprocessable', 'this model has no chat template');
      // The template's text holds its own special tokens.
      const continues = options.continue_final_message ?? messages.at(-1)?.role === 'assistant';
      const text = template.render(messages, { variables, continues });
      const maxLength = cutAt(tokenizer, options);
      const prompt = tokenizer.encode(text, { specialTokens: false, maxLength }).ids;
      return continued(model, { prompt, options, signal });
    },
  };
}

/** `task_specific_params` of config.json: Python's pipeline puts them over the generation settings. */
function taskParams(config: Json): Json {
  const all = (config['task_specific_params'] ?? {}) as Record<string, Json | undefined>;
  return all['text-generation'] ?? {};
}

const cutAt = (tokenizer: TextTokenizer, { truncation }: GenerateOptions): number | undefined =>
  truncation ? tokenizer.modelMaxLength : undefined;

/** generate() begins an empty prompt with BOS. */
function withStart(ids: number[], { repository }: Model): number[] {
  if (ids.length > 0) return ids;
  const bos = repository['bos_token_id'];
  if (typeof bos === 'number') return [bos];
  throw new RunError('invalid_input', 'text: is empty, and this model has no start token');
}

interface Request {
  prompt: number[];
  /** Tokens of what the repository or the request puts before the text. */
  prefixLength?: number;
  options: GenerateOptions;
  signal: AbortSignal;
}

async function* continued(
  model: Model,
  { prompt: given, prefixLength, options, signal }: Request,
): AsyncGenerator<string, GeneratedText[]> {
  const { decoder, tokenizer } = model;
  const prompt = withHole({ prompt: given, prefixLength, options, model });
  const settings = readSettings({
    ...model,
    request: withStopTokens(tokenizer, options),
    promptLength: prompt.length,
    prefixLength,
    source: prompt,
  });
  const tokens = prompt.length + settings.maxNewTokens;
  // A guided text takes room twice, and must not wait with the first half in hand.
  const patient = settings.guidance === 1;
  const need = { rows: rowsOf(settings), tokens, prompt: prompt.length, patient, signal };
  return yield* generate({
    ...{ prompt: { tokens: prompt }, settings, tokenizer, signal },
    start: () => decoder.start(need),
  });
}

/**
 * The end of a prompt that leaves no room for the answer, where the request wants that (`handle_long_generation`).
 * @throws RunError 422 when the answer alone takes all the room
 */
function withHole({
  prompt,
  prefixLength,
  options,
  model,
}: Omit<Request, 'signal'> & { model: Model }): number[] {
  const limit = model.tokenizer.modelMaxLength ?? Infinity;
  if (options.handle_long_generation !== 'hole') return prompt;
  const { repository } = model;
  const unlimited = { request: options, repository, contextLength: undefined, hardLimit: false };
  const added = newTokens({ ...unlimited, promptLength: prompt.length, prefixLength });
  if (prompt.length + added <= limit) return prompt;
  if (added < limit) return prompt.slice(added - limit);
  throw new RunError(
    'unprocessable',
    `params.handle_long_generation: an answer of ${added} tokens leaves no room for the prompt within ${limit}`,
  );
}
