import type { Delta } from '../../core/delta.js';
import { RunError } from '../../core/errors.js';
import type { GeneratedText, GenerateOptions, TextGenerator } from '../../core/handles/index.js';
import type { MemoryLimits } from '../../core/load-request.js';
import type { PositionKind } from '../../core/readers.js';
import { firstNumber, type Json, textConfig } from '../repository/model-folder.js';
import type { EncodePrompt } from '../tokenizers/patient-tokenizer.js';
import type { TextTokenizer } from '../tokenizers/tokenizer.js';
import type { ChatTemplate } from '../chat-templates/chat-template.js';
import type { Decoder } from './decoding/decoder.js';
import { generateFromPrompt, type PromptModel, type PromptRequest } from './generate-from-prompt.js';
import { createGrammars } from './grammar/grammars.js';
import { checkPromptTokens } from './settings/check-token-ids.js';
import { contextLimitOf, maxNewTokensOf } from './settings/answer-length.js';
import { withStartToken } from './settings/start-token.js';
import { createChatAnswers } from './answers/chat-answers.js';

/** What a text generator is made of, whatever computes it. */
export interface TextGeneratorParts {
  /** config.json */
  config: Json;
  positions?: PositionKind | undefined;
  /** generation_config.json */
  generation: Json | undefined;
  tokenizer: TextTokenizer;
  /** Tokens of prompts, by that tokenizer. */
  encode: EncodePrompt;
  decoder: Decoder;
  template: ChatTemplate | undefined;
  /** No limits if absent. */
  memory: MemoryLimits | undefined;
}

export function createTextGenerator({
  config,
  positions,
  generation,
  tokenizer,
  encode,
  decoder,
  template,
  memory,
}: TextGeneratorParts): TextGenerator {
  const answers = template && createChatAnswers(template, tokenizer);
  const ownParams = taskParams(config);
  const model: PromptModel = {
    ...{ decoder, tokenizer, grammars: createGrammars(tokenizer, memory) },
    repository: { ...(generation ?? config), ...ownParams },
    ...contextLimitOf(config, decoder, positions),
  };
  const prefix = String(ownParams['prefix'] ?? config['prefix'] ?? '');
  return {
    hasChatTemplate: template !== undefined,
    tools: answers?.support,
    async *generate(text, options, signal) {
      if (options.prompt_token_ids != null) return yield* continueTokens(model, config, { options, signal });
      const specialTokens = options.add_special_tokens ?? undefined;
      const before = options.prefix ?? prefix;
      const maxLength = truncationLength(tokenizer, options);
      const ids = await encode(before + text, { specialTokens, maxLength }, signal);
      const prefixLength = tokenizer.encode(before, { specialTokens: specialTokens ?? false }).ids.length;
      const prompt = withStartToken(ids, model);
      return yield* generateFrom(model, { prompt, prefixLength, options, signal });
    },
    async *chat(messages, variables, given, signal) {
      if (!template || !answers) throw new RunError('unprocessable', 'this model has no chat template');
      const asked = answers.ask({ messages, variables, options: given });
      const { options } = asked;
      // The template's text holds its own special tokens.
      const continues = options.continue_final_message ?? messages.at(-1)?.role === 'assistant';
      const rendered = template.render(asked.messages, { variables: asked.variables, continues });
      const text = rendered + asked.begin(rendered);
      const maxLength = truncationLength(tokenizer, options);
      const prompt = await encode(text, { specialTokens: false, maxLength }, signal);
      return yield* asked.checked(
        generateFrom(model, { prompt, options, writes: asked.writes(), grammar: asked.grammar, signal }),
      );
    },
  };
}

/**
 * Continues a prompt that is given by its tokens.
 * @throws RunError 400 for none, and for one that the model does not have
 */
async function* continueTokens(
  model: PromptModel,
  config: Json,
  { options, signal }: Pick<Request, 'options' | 'signal'>,
): AsyncGenerator<string | Delta, GeneratedText[]> {
  const prompt = options.prompt_token_ids ?? [];
  const { tokenizer } = model;
  checkPromptTokens(prompt, firstNumber(textConfig(config), 'vocab_size') ?? tokenizer.idLimit);
  const found = yield* generateFrom(model, { prompt, options, signal });
  const skipSpecialTokens = options.skip_special_tokens ?? true;
  const promptText = tokenizer.decode(prompt, { cleanUp: false, skipSpecialTokens });
  return found.map((one) => ({ ...one, promptText }));
}

/** `task_specific_params` of config.json: Python's pipeline puts them over the generation settings. */
function taskParams(config: Json): Json {
  const all = (config['task_specific_params'] ?? {}) as Record<string, Json | undefined>;
  return all['text-generation'] ?? {};
}

const truncationLength = (tokenizer: TextTokenizer, { truncation }: GenerateOptions): number | undefined =>
  truncation ? tokenizer.modelMaxLength : undefined;

interface Request extends Omit<PromptRequest, 'prompt'> {
  prompt: number[];
}

function generateFrom(model: PromptModel, request: Request): AsyncGenerator<string | Delta, GeneratedText[]> {
  // Text generation of transformers 5 decodes an answer alone, that of 4 behind its prompt: a blank of a first word goes with it.
  const decodesAlone = model.tokenizer.config['backend'] === 'tokenizers';
  return generateFromPrompt(model, {
    ...request,
    prompt: { tokens: truncatePrompt(model, request) },
    decodesAlone,
  });
}

/**
 * The end of a prompt that leaves no room for the answer, where the request wants that (`handle_long_generation`).
 * @throws RunError 422 when the answer alone takes all the room
 */
function truncatePrompt(model: PromptModel, { prompt, prefixLength, options }: Request): number[] {
  const limit = model.tokenizer.modelMaxLength ?? Infinity;
  if (options.handle_long_generation !== 'hole') return prompt;
  const { repository } = model;
  const unlimited = { request: options, repository, contextLength: undefined, hardLimit: false };
  const added = maxNewTokensOf({ ...unlimited, promptLength: prompt.length, prefixLength });
  if (prompt.length + added <= limit) return prompt;
  if (added < limit) return prompt.slice(added - limit);
  throw new RunError(
    'unprocessable',
    `params.handle_long_generation: an answer of ${added} tokens leaves no room for the prompt within ${limit}`,
  );
}
