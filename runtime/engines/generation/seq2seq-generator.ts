import { RunError } from '../../core/errors.js';
import type { GeneratedText, GenerateOptions, Seq2SeqGenerator } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import { type Json, readJson, readOptionalJson } from '../repository/model-folder.js';
import { loadTokenizer, type TextTokenizer } from '../tokenizers/tokenizer.js';
import type { DecodingRequest, EncoderDecoder } from './decoding/decoder.js';
import { openEncoderDecoder } from './decoding/encoder-decoder/open-encoder-decoder.js';
import { openTextEncoder } from './decoding/encoder-decoder/text-encoder.js';
import { generate, maxRowsOf } from './generate.js';
import { languageTokensOf } from './prompts/language-tokens.js';
import { decoderPositions } from '../repository/sequence-lengths.js';
import { mergeSettings } from './settings/settings.js';
import { createSourceReader } from './prompts/source-reader.js';
import type { EncoderSource } from './prompts/encode-to-limit.js';
import { withStopTokens } from './settings/stop-tokens.js';

interface Model {
  decoder: EncoderDecoder<readonly number[]>;
  tokenizer: TextTokenizer;
  config: Json;
  /** generation_config.json, or config.json where there is none. */
  repository: Json;
}

/** Encoder-decoder language models with a key-value cache (…ForConditionalGeneration, MarianMTModel). */
export async function loadSeq2SeqGenerator(request: LoadRequest): Promise<Seq2SeqGenerator> {
  const config = await readJson(request.dir, 'config.json');
  const [tokenizer, generation, decoder] = await Promise.all([
    loadTokenizer(request.dir),
    readOptionalJson(request.dir, 'generation_config.json'),
    openEncoderDecoder(request, config, openTextEncoder),
  ]);
  const model: Model = { decoder, tokenizer, config, repository: generation ?? config };
  const read = createSourceReader({ tokenizer, config, task: request.spec.task });
  return {
    languages: languageTokensOf(tokenizer, config)?.codes ?? [],
    generate(text, { src_lang, tgt_lang, ...options }, signal) {
      return generateAnswer(model, { source: read(text, { src_lang, tgt_lang }), options, signal });
    },
  };
}

interface Request {
  source: EncoderSource;
  options: GenerateOptions;
  signal: AbortSignal;
}

async function* generateAnswer(
  model: Model,
  { source, options, signal }: Request,
): AsyncGenerator<string, GeneratedText[]> {
  const { decoder, tokenizer, config } = model;
  const repository = { ...model.repository, ...source.taskParams };
  const prompt = [decoderStartToken(options, repository)];
  const settings = mergeSettings({
    request: withStopTokens(tokenizer, withForcedBos(options, source.forcedBosTokenId), 1),
    ...{ repository, sourceTokens: source.tokens },
    promptLength: prompt.length,
    contextLength: decoderPositions(config),
    hardLimit: true,
    cleanUp: false,
  });
  const request: DecodingRequest = {
    maxRows: maxRowsOf(settings),
    maxLength: prompt.length + settings.maxNewTokens,
    waits: true,
    signal,
  };
  if (settings.guidanceScale !== 1) {
    throw new RunError('unprocessable', 'params.guidance_scale: needs a model without an encoder');
  }
  return yield* generate({
    ...{ prompt: { tokens: prompt }, settings, tokenizer, signal, echoesPrompt: true },
    start: () => decoder.start(source.tokens, request),
  });
}

/** The target language is the first token. Python fails when the request names one as well. */
function withForcedBos(options: GenerateOptions, forcedBosTokenId: number | undefined): GenerateOptions {
  if (forcedBosTokenId === undefined) return options;
  if (options.forced_bos_token_id == null) return { ...options, forced_bos_token_id: forcedBosTokenId };
  throw new RunError(
    'unprocessable',
    'params.forced_bos_token_id: params.tgt_lang has set the first token already',
  );
}

/** A list has one for each text of a batch, which is one text here. */
function decoderStartToken({ decoder_start_token_id: wanted }: GenerateOptions, repository: Json): number {
  const found = [wanted ?? repository['decoder_start_token_id'] ?? repository['bos_token_id']].flat();
  const [id] = found;
  if (found.length === 1 && typeof id === 'number') return id;
  throw new RunError('not_ready', 'the model names no decoder_start_token_id');
}
