import { RunError } from '../../core/errors.js';
import type { GeneratedText, GenerateOptions, Seq2SeqGenerator } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import { type Json, readJson, readOptionalJson } from '../repository/model-folder.js';
import { loadTokenizer, type TextTokenizer } from '../tokenizers/tokenizer.js';
import type { EncoderDecoder } from './decoding/decoder.js';
import { openEncoderDecoder } from './decoding/encoder-decoder/open-encoder-decoder.js';
import { openTextEncoder } from './decoding/encoder-decoder/text-encoder.js';
import { generate, rowsOf } from './generate.js';
import { languagesOf } from './prompts/languages.js';
import { decoderPositions } from '../repository/sequence-lengths.js';
import { readSettings } from './settings/settings.js';
import { sourceReader } from './prompts/source.js';
import type { Source } from './prompts/source-text.js';
import { withStopTokens } from './settings/stop-tokens.js';

interface Model {
  graphs: EncoderDecoder<readonly number[]>;
  tokenizer: TextTokenizer;
  config: Json;
  /** generation_config.json, or config.json where there is none. */
  repository: Json;
}

/** Encoder-decoder language models with a key-value cache (…ForConditionalGeneration, MarianMTModel). */
export async function loadSeq2SeqGenerator(request: LoadRequest): Promise<Seq2SeqGenerator> {
  const config = await readJson(request.dir, 'config.json');
  const [tokenizer, generation, graphs] = await Promise.all([
    loadTokenizer(request.dir),
    readOptionalJson(request.dir, 'generation_config.json'),
    openEncoderDecoder(request, config, openTextEncoder),
  ]);
  const model: Model = { graphs, tokenizer, config, repository: generation ?? config };
  const read = sourceReader({ tokenizer, config, task: request.spec.task });
  return {
    languages: languagesOf(tokenizer, config)?.codes ?? [],
    generate(text, { src_lang, tgt_lang, ...options }, signal) {
      return answer(model, { source: read(text, { src_lang, tgt_lang }), options, signal });
    },
  };
}

interface Request {
  source: Source;
  options: GenerateOptions;
  signal: AbortSignal;
}

async function* answer(
  model: Model,
  { source, options, signal }: Request,
): AsyncGenerator<string, GeneratedText[]> {
  const { graphs, tokenizer, config } = model;
  const repository = { ...model.repository, ...source.own };
  const prompt = [startToken(options, repository)];
  const settings = readSettings({
    request: withStopTokens(tokenizer, withFirst(options, source.forcedBos), 1),
    ...{ repository, source: source.ids },
    promptLength: prompt.length,
    contextLength: decoderPositions(config),
    hardLimit: true,
    cleanUp: false,
  });
  const need = {
    rows: rowsOf(settings),
    tokens: prompt.length + settings.maxNewTokens,
    patient: true,
    signal,
  };
  if (settings.guidance !== 1) {
    throw new RunError('unprocessable', 'params.guidance_scale: needs a model without an encoder');
  }
  return yield* generate({
    ...{ prompt: { tokens: prompt }, settings, tokenizer, signal, echoes: true },
    start: () => graphs.start(source.ids, need),
  });
}

/** The target language is the first token. Python fails when the request names one, too. */
function withFirst(options: GenerateOptions, forcedBos: number | undefined): GenerateOptions {
  if (forcedBos === undefined) return options;
  if (options.forced_bos_token_id == null) return { ...options, forced_bos_token_id: forcedBos };
  throw new RunError(
    'unprocessable',
    'params.forced_bos_token_id: params.tgt_lang has set the first token already',
  );
}

/** A list has one for each text of a batch, which is one text here. */
function startToken({ decoder_start_token_id: wanted }: GenerateOptions, repository: Json): number {
  const found = [wanted ?? repository['decoder_start_token_id'] ?? repository['bos_token_id']].flat();
  const [id] = found;
  if (found.length === 1 && typeof id === 'number') return id;
  throw new RunError('not_ready', 'the model names no decoder_start_token_id');
}
