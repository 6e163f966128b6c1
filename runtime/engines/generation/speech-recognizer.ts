import { RunError } from '../../core/errors.js';
import type { SpeechRecognizer } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import type { AudioFeatures } from '../processors/audio/audio-features.js';
import { createWhisperExtractor } from '../processors/audio/whisper.js';
import { type AudioReader, requireSteps } from '../audio/steps-left.js';
import { audioPieces } from '../audio/audio-pieces.js';
import { readOptionalJson } from '../repository/model-folder.js';
import { readersIn } from '../repository/named-readers.js';
import { readModelConfig } from '../repository/model-config.js';
import { openAudioInput, readExtractorConfig, type AudioInput } from '../audio/audio-input.js';
import { loadTokenizer } from '../tokenizers/tokenizer.js';
import { openEncoderDecoder } from './decoding/encoder-decoder/open-encoder-decoder.js';
import { openAudioEncoder } from './decoding/encoder-decoder/audio-encoder.js';
import { decoderStartToken, generateFromSource, lastOf, type SourceModel } from './generate-from-source.js';
import { createWhisper, type Transcribe } from './speech/whisper.js';

/** WhisperForConditionalGeneration, MoonshineForConditionalGeneration, SpeechEncoderDecoderModel. */
export async function loadSpeechRecognizer(request: LoadRequest): Promise<SpeechRecognizer> {
  const { dir } = request;
  const config = await readModelConfig(dir);
  const [tokenizer, generation, audios, decoder] = await Promise.all([
    loadTokenizer(dir),
    readOptionalJson(dir, 'generation_config.json'),
    openAudioInput(request),
    openEncoderDecoder(request, config, openAudioEncoder),
  ]);
  const { audio: reader, positions } = readersIn(request);
  const model: SourceModel<AudioFeatures> = {
    ...{ decoder, tokenizer, config, positions, repository: generation ?? config },
  };
  const transcribe =
    reader === 'whisper'
      ? createWhisper({ ...model, extractor: createWhisperExtractor(await readExtractorConfig(dir)) })
      : createPlain(model, audios, reader);
  return {
    async transcribe(audio, options, signal) {
      return transcribe(await audios.samples(audio, signal), options, signal);
    },
  };
}

/** Models that transcribe an audio clip at once, or pieces of it, whose tokens are set one behind the other, as in Python. */
function createPlain(
  model: SourceModel<AudioFeatures>,
  { extractor }: AudioInput,
  reader: AudioReader,
): Transcribe {
  return async (
    samples,
    { language, task, return_timestamps, prompt_ids, condition_on_prev_tokens, ...others },
    signal,
  ) => {
    const { chunk_length_s, stride_length_s, temperature, prompt: words, return_chunks: _, ...rest } = others;
    const { compression_ratio_threshold, logprob_threshold, no_speech_threshold, ...more } = rest;
    refuse({ language, task, return_timestamps, prompt_ids, prompt: words, condition_on_prev_tokens });
    refuse({ compression_ratio_threshold, logprob_threshold, no_speech_threshold }, [null]);
    const isList = typeof temperature === 'object' && temperature !== null;
    if (isList) refuse({ temperature });
    const options = { ...more, temperature: isList ? undefined : temperature };
    const pieces = audioPieces(
      samples,
      { chunk_length_s, stride_length_s },
      { rate: extractor.rate, align: 1 },
    );
    const prompt = [decoderStartToken(options, model.repository)];
    const cleanUp = model.tokenizer.config['clean_up_tokenization_spaces'] === true;
    const transcribed = [];
    for (const piece of pieces ?? [{ samples }]) {
      const source = await extractor.extract(piece.samples, signal);
      requireSteps(model.config, reader, source.dims[1]!);
      const request = { source, sourceTokens: [], prompt, options, cleanUp, signal };
      const [found] = await lastOf(generateFromSource(model, request));
      transcribed.push(found!);
    }
    const tokensOut = transcribed.reduce((sum, { tokensOut: count }) => sum + count, 0);
    const seconds = samples.length / extractor.rate;
    if (transcribed.length === 1) return { text: transcribed[0]!.text, tokensOut, seconds };
    const tokens = transcribed.flatMap((found) => [...found.tokens!]);
    const join = options.clean_up_tokenization_spaces ?? cleanUp;
    return { text: model.tokenizer.decode(tokens, { cleanUp: join }), tokensOut, seconds };
  };
}

/** @param unset values that ask for nothing */
function refuse(options: Record<string, unknown>, unset: readonly unknown[] = [null, false, 0]): void {
  const given = Object.keys(options).find((name) => !unset.includes(options[name] ?? null));
  if (given)
    throw new RunError('unprocessable', `params.${given}: this model can’t do that; Whisper models can`);
}
