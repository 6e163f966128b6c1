import type { Delta } from '../../core/delta.js';
import type { GeneratedText, GenerateOptions } from '../../core/handles/index.js';
import type { Json } from '../repository/model-folder.js';
import type { TextTokenizer } from '../tokenizers/tokenizer.js';
import type { Decoder, DecodingRequest, Prompt } from './decoding/decoder.js';
import { RunError } from '../../core/errors.js';
import { type AskedGrammar, askedGrammar } from './grammar/asked-grammar.js';
import { contradictingParam } from './grammar/check-settings.js';
import { type GenerationGrammar, type Grammars, modelRefusal } from './grammar/grammars.js';
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
  /** What the answer has to follow, if not what the options say. @param ends tokens that end it */
  grammar?: ((ends: ReadonlySet<number>) => AskedGrammar | undefined) | undefined;
  signal: AbortSignal;
}

/**
 * For prompts that take work to make: what `generateFromPrompt` would refuse by the length alone.
 * @throws RunError 422 a prompt too long, or an option that such models can't do
 */
export function checkPrompt(
  model: PromptModel,
  { tokens, ...given }: Pick<PromptRequest, 'options' | 'grammar'> & { tokens: readonly number[] },
): void {
  plan(model, { ...given, tokens });
  model.decoder.checkPrompt(tokens.length);
}

interface Plan {
  settings: GenerationSettings;
  grammar: AskedGrammar | undefined;
}

function plan(
  model: PromptModel,
  given: Omit<PromptRequest, 'prompt' | 'signal'> & { tokens: readonly number[] },
): Plan {
  const { tokens, options, prefixLength, cleanUp } = given;
  const settings = mergeSettings({
    ...model,
    request: withStopTokens(model.tokenizer, options),
    promptLength: tokens.length,
    ...{ prefixLength, cleanUp },
    sourceTokens: tokens,
  });
  const asked = given.grammar ? given.grammar(settings.eosTokenIds) : askedGrammar(options);
  const param = asked && contradictingParam(settings, options);
  if (!asked || (asked.optional && (param ?? modelRefusal(model.tokenizer, settings)) !== undefined))
    return { settings, grammar: undefined };
  if (param !== undefined)
    throw new RunError('unprocessable', `params.${param}: does not go with params.${asked.param}`);
  // A blank that is joined to the word before it would leave the grammar.
  return { settings: { ...settings, cleanUp: false }, grammar: asked };
}

/** Bytes of one row of probabilities that is kept. */
const ROW_BYTES = 256;

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
  const { settings, grammar: asked } = plan(model, { ...given, tokens: prompt.tokens });
  const { promptLogprobs } = settings;
  const request: DecodingRequest = {
    maxRows: maxRowsOf(settings),
    maxLength: length + settings.maxNewTokens,
    promptLength: length,
    ...(prompt.images && { imageStates: prompt.images.states.dims[0]! }),
    scored:
      promptLogprobs === undefined ? undefined : { keptBytes: length * (promptLogprobs + 1) * ROW_BYTES },
    // A guided text reserves twice, and must not wait while it holds the first reservation.
    waits: settings.guidanceScale === 1,
    signal,
  };
  const grammar = asked && (await startGrammar(model, asked, settings));
  try {
    return yield* generate({
      ...{ prompt, settings, tokenizer, signal, decodesAlone, writes, grammar },
      start: () => decoder.start(request),
    });
  } finally {
    grammar?.release();
  }
}

/** @throws RunError as `Grammars.start`, but for a grammar that nobody was promised */
async function startGrammar(
  { grammars }: PromptModel,
  asked: AskedGrammar,
  settings: GenerationSettings,
): Promise<GenerationGrammar | undefined> {
  try {
    return await grammars.start(asked, settings);
  } catch (error) {
    if (asked.optional && error instanceof RunError) return undefined;
    throw error;
  }
}
