import { RunError } from '../../../core/errors.js';
import type { GeneratedText, GenerateOptions, RecognitionOptions } from '../../../core/handles/index.js';
import type { AudioInput } from '../../audio/audio-input.js';
import { audioPieces } from '../../audio/audio-pieces.js';
import { type AudioReader, requireSteps } from '../../audio/steps-left.js';
import type { AudioFeatures } from '../../processors/audio/audio-features.js';
import { decoderStartToken, generateFromSource, lastOf, type SourceModel } from '../generate-from-source.js';
import { type SpeechPrompts, withStart } from './speech-prompts.js';
import type { Transcribe } from './whisper.js';

interface Plain {
  audios: AudioInput;
  reader: AudioReader;
  /** Absent: the decoder begins with its start token. */
  prompts: SpeechPrompts | undefined;
}

/** What generate() takes of the parameters. @throws RunError 422 for those that only Whisper has */
function generationOptions(
  { language, task, return_timestamps, prompt_ids, condition_on_prev_tokens, ...others }: RecognitionOptions,
  prompts: SpeechPrompts | undefined,
): GenerateOptions {
  const { chunk_length_s, stride_length_s, temperature, prompt, return_chunks: _, ...rest } = others;
  const { compression_ratio_threshold, logprob_threshold, no_speech_threshold, ...more } = rest;
  refuse({ return_timestamps, prompt_ids, prompt, condition_on_prev_tokens });
  refuse({ compression_ratio_threshold, logprob_threshold, no_speech_threshold }, [null]);
  const further: Record<string, unknown> = { language, task, chunk_length_s, stride_length_s };
  const refused = prompts?.refused ?? ['language', 'task'];
  refuse(Object.fromEntries(refused.map((name) => [name, further[name]])));
  const isList = typeof temperature === 'object' && temperature !== null;
  if (isList) refuse({ temperature });
  return { ...more, temperature: isList ? undefined : temperature };
}

/**
 * Models that transcribe an audio clip at once, or pieces of it, whose tokens are set one behind the other, as in Python. Texts of
 * pieces that the model itself asks for are joined as its processor joins them.
 */
export function createPlain(
  model: SourceModel<AudioFeatures>,
  { audios: { extractor }, reader, prompts }: Plain,
): Transcribe {
  const usualCleanUp = model.tokenizer.config['clean_up_tokenization_spaces'] === true;

  return async (samples, params, signal) => {
    const options = generationOptions(params, prompts);
    const start = decoderStartToken(options, model.repository);
    const prompt = prompts ? withStart(start, prompts.tokens(params)) : [start];
    const cut = audioPieces(samples, params, { rate: extractor.rate, align: 1 });
    const pieces = cut?.map((piece) => piece.samples) ?? prompts?.pieces?.(samples) ?? [samples];
    const transcribed: GeneratedText[] = [];
    for (const piece of pieces) {
      const source = await extractor.extract(piece, signal);
      requireSteps(model.config, reader, source.dims[1]!);
      const request = { source, sourceTokens: [], prompt, options, cleanUp: usualCleanUp, signal };
      const [found] = await lastOf(generateFromSource(model, request));
      transcribed.push(found!);
    }
    const tokensOut = transcribed.reduce((sum, { tokensOut: count }) => sum + count, 0);
    const language = prompts?.language(params);
    return { text: textOf(transcribed), language, tokensOut, seconds: samples.length / extractor.rate };

    function textOf(found: readonly GeneratedText[]): string {
      if (found.length === 1) return found[0]!.text;
      if (prompts?.join)
        return prompts.join(
          found.map(({ text }) => text),
          params,
        );
      const tokens = found.flatMap((one) => [...one.tokens!]);
      const cleanUp = options.clean_up_tokenization_spaces ?? usualCleanUp;
      return model.tokenizer.decode(tokens, { cleanUp });
    }
  };
}

/** @param unset values that ask for nothing */
function refuse(options: Record<string, unknown>, unset: readonly unknown[] = [null, false, 0]): void {
  const given = Object.keys(options).find((name) => !unset.includes(options[name] ?? null));
  if (given)
    throw new RunError('unprocessable', `params.${given}: this model can’t do that; Whisper models can`);
}
