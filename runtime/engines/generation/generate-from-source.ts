import type { Delta } from '../../core/delta.js';
import { RunError } from '../../core/errors.js';
import type { GeneratedText, GenerateOptions } from '../../core/handles/index.js';
import type { PositionKind } from '../../core/readers.js';
import { decoderPositions } from '../repository/sequence-lengths.js';
import type { Json } from '../repository/model-folder.js';
import type { TextTokenizer } from '../tokenizers/tokenizer.js';
import type { DecodingRequest, EncoderDecoder } from './decoding/decoder.js';
import { generate, maxRowsOf } from './generate.js';
import type { Grammars } from './grammar/grammars.js';
import { sourceGrammar } from './grammar/source-grammar.js';
import type { LogitsProcessor } from './search/logits-processor.js';
import { mergeSettings } from './settings/settings.js';
import { withStopTokens } from './settings/stop-tokens.js';

/** A model whose decoder attends to what an encoder makes of a source: a text, an image. */
export interface SourceModel<Source> {
  decoder: EncoderDecoder<Source>;
  tokenizer: TextTokenizer;
  /** config.json */
  config: Json;
  positions: PositionKind | undefined;
  /** generation_config.json, or config.json where there is none. */
  repository: Json;
  /** Undefined: its task has no formats. */
  grammars?: Grammars | undefined;
}

export interface SourceRequest<Source> {
  source: Source;
  /** Tokens of a source that is text. */
  sourceTokens: readonly number[];
  /** What the decoder begins with. */
  prompt: readonly number[];
  options: GenerateOptions;
  /** Whether decoding joins punctuation where the request doesn't say. */
  cleanUp?: boolean;
  rules?: readonly LogitsProcessor[];
  /** True: answers tell their meanLogprob. */
  tellsMeanLogprob?: boolean;
  signal: AbortSignal;
}

/**
 * Generates what the decoder makes of a source. Yields and returns as `generate` does; the prompt's own text comes first.
 * @throws RunError 422 for an option that such models can't do
 */
export async function* generateFromSource<Source>(
  { decoder, tokenizer, config, positions, repository, grammars }: SourceModel<Source>,
  {
    source,
    sourceTokens,
    prompt,
    options,
    cleanUp = false,
    rules,
    tellsMeanLogprob,
    signal,
  }: SourceRequest<Source>,
): AsyncGenerator<string | Delta, GeneratedText[]> {
  const merged = mergeSettings({
    request: withStopTokens(tokenizer, options, 1),
    ...{ repository, sourceTokens },
    promptLength: prompt.length,
    contextLength: decoderPositions(config, positions),
    hardLimit: true,
    cleanUp,
  });
  if (merged.guidanceScale !== 1) {
    throw new RunError('unprocessable', 'params.guidance_scale: needs a model without an encoder');
  }
  const asked = grammars && sourceGrammar(tokenizer, { options, settings: merged, prompt });
  const settings = asked?.settings ?? merged;
  const request: DecodingRequest = {
    maxRows: maxRowsOf(settings),
    maxLength: prompt.length + settings.maxNewTokens,
    waits: true,
    signal,
  };
  const grammar = asked && (await grammars?.start(asked.asked, settings));
  try {
    return yield* generate({
      ...{ prompt: { tokens: prompt }, settings, tokenizer, signal, rules, tellsMeanLogprob, grammar },
      echoesPrompt: true,
      start: () => decoder.start(source, request),
    });
  } finally {
    grammar?.release();
  }
}

/** The token that the decoder begins with. A list has one for each source of a batch, which is one here. */
export function decoderStartToken(
  { decoder_start_token_id: wanted }: GenerateOptions,
  repository: Json,
): number {
  const found = [wanted ?? repository['decoder_start_token_id'] ?? repository['bos_token_id']].flat();
  const [id] = found;
  if (found.length === 1 && typeof id === 'number') return id;
  throw new RunError('not_ready', 'the model names no decoder_start_token_id');
}

/** What a generator returns; what it yields is left. */
export async function lastOf<T>(generator: AsyncGenerator<unknown, T>): Promise<T> {
  for (;;) {
    const next = await generator.next();
    if (next.done) return next.value;
  }
}
