import type { Delta } from '../../core/delta.js';
import { RunError } from '../../core/errors.js';
import type { GeneratedText, GenerateOptions, Seq2SeqGenerator } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import { readOptionalJson } from '../repository/model-folder.js';
import { readersIn } from '../repository/named-readers.js';
import { readModelConfig } from '../repository/model-config.js';
import { openPatientTokenizer } from '../long-texts/thread-aside.js';
import { loadTokenizer } from '../tokenizers/tokenizer.js';
import { openEncoderDecoder } from './decoding/encoder-decoder/open-encoder-decoder.js';
import { openTextEncoder } from './decoding/encoder-decoder/text-encoder.js';
import { decoderStartToken, generateFromSource, type SourceModel } from './generate-from-source.js';
import { createGrammars } from './grammar/grammars.js';
import { languageTokensOf } from './prompts/language-tokens.js';
import { createSourceReader } from './prompts/source-reader.js';
import type { EncoderSource } from './prompts/encode-to-limit.js';

type Model = SourceModel<readonly number[]>;

/** Encoder-decoder language models with a key-value cache (…ForConditionalGeneration, MarianMTModel). */
export async function loadSeq2SeqGenerator(request: LoadRequest): Promise<Seq2SeqGenerator> {
  const config = await readModelConfig(request.dir);
  const [tokenizer, generation, decoder] = await Promise.all([
    loadTokenizer(request.dir),
    readOptionalJson(request.dir, 'generation_config.json'),
    openEncoderDecoder(request, config, openTextEncoder),
  ]);
  const grammars = createGrammars(tokenizer, request.memory);
  const { positions } = readersIn(request);
  const model: Model = {
    ...{ decoder, tokenizer, grammars, config, positions, repository: generation ?? config },
  };
  const patient = openPatientTokenizer(request, tokenizer);
  const read = createSourceReader({ tokenizer: patient, config, positions, task: request.spec.task });
  return {
    languages: languageTokensOf(tokenizer, config)?.codes ?? [],
    async *generate(text, { src_lang, tgt_lang, ...options }, signal) {
      const source = await read(text, { src_lang, tgt_lang }, signal);
      return yield* generateAnswer(model, { source, options, signal });
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
): AsyncGenerator<string | Delta, GeneratedText[]> {
  const repository = { ...model.repository, ...source.taskParams };
  return yield* generateFromSource(
    { ...model, repository },
    {
      ...{ source: source.tokens, sourceTokens: source.tokens, signal },
      prompt: [decoderStartToken(options, repository)],
      options: withForcedBos(options, source.forcedBosTokenId),
    },
  );
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
