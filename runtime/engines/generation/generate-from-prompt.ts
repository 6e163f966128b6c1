import type { Delta } from '../../core/delta.js';
import type { GeneratedText, GenerateOptions } from '../../core/handles/index.js';
import type { Json } from '../repository/model-folder.js';
import type { TextTokenizer } from '../tokenizers/tokenizer.js';
import type { Decoder, DecodingRequest, Prompt } from './decoding/decoder.js';
import { askedGrammar } from './grammar/asked-grammar.js';
import { checkGrammarSettings } from './grammar/check-settings.js';
import type { Grammars } from './grammar/grammars.js';
import { generate, maxRowsOf, type WriteAnswer } from './generate.js';
import { type GenerationSettings, mergeSettings } from './settings/settings.js';
import { withStopTokens } from './settings/stop-tokens.js';

/** A language model without an encoder. */
export interface PromptModel {
  decoder: Decoder;
  tokenizer: TextTokenizer;
  grammars: Grammars;
  /** generation_config.json, or config.json where there is none, under the task's own parameters. */
  repository: Json;
  contextLength: number | undefined;
  hardLimit: boolean;
}

export interface PromptRequest {
  prompt: Prompt;
  /** Tokens of what the repository or the request puts before the text. */
  prefixLength?: number | undefined;
  options: GenerateOptions;
  /** Whether decoding joins punctuation where the request doesn't say; default true. */
  cleanUp?: boolean;
  /** True: the answer is decoded by itself, without the tokens before it. */
  decodesAlone?: boolean;
  /** How answers are told, if not as plain text. */
  writes?: WriteAnswer | undefined;
  signal: AbortSignal;
}

/**
 * For prompts that take work to make: what `generateFromPrompt` would refuse by the length alone.
 * @throws RunError 422 a prompt too long, or an option that such models can't do
 */
export function checkPrompt(
  model: PromptModel,
  { tokens, options }: { tokens: readonly number[]; options: GenerateOptions },
): void {
  settingsOf(model, { tokens, options });
  model.decoder.checkPrompt(tokens.length);
}

function settingsOf(
  model: PromptModel,
  given: Pick<PromptRequest, 'options' | 'prefixLength' | 'cleanUp'> & { tokens: readonly number[] },
): GenerationSettings {
  const { tokens, options, prefixLength, cleanUp } = given;
  const settings = mergeSettings({
    ...model,
    request: withStopTokens(model.tokenizer, options),
    promptLength: tokens.length,
    ...{ prefixLength, cleanUp },
    sourceTokens: tokens,
  });
  const asked = askedGrammar(options);
  if (!asked) return settings;
  checkGrammarSettings(asked.param, settings, options);
  // A blank that is joined to the word before it would leave the grammar.
  return { ...settings, cleanUp: false };
}

/**
 * Goes on with a prompt. Yields and returns as `generate` does.
 * @throws RunError 422 a prompt too long, or an option that such models can't do
 */
export async function* generateFromPrompt(
  model: PromptModel,
  { prompt, signal, decodesAlone, writes, ...given }: PromptRequest,
): AsyncGenerator<string | Delta, GeneratedText[]> {
  const { decoder, tokenizer } = model;
  const { length } = prompt.tokens;
  const settings = settingsOf(model, { ...given, tokens: prompt.tokens });
  const request: DecodingRequest = {
    maxRows: maxRowsOf(settings),
    maxLength: length + settings.maxNewTokens,
    promptLength: length,
    // A guided text reserves twice, and must not wait while it holds the first reservation.
    waits: settings.guidanceScale === 1,
    signal,
  };
  const asked = askedGrammar(given.options);
  const grammar = asked && (await model.grammars.start(asked, settings));
  try {
    return yield* generate({
      ...{ prompt, settings, tokenizer, signal, decodesAlone, writes, grammar },
      start: () => decoder.start(request),
    });
  } finally {
    grammar?.release();
  }
}
