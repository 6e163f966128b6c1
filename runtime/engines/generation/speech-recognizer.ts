import type { SpeechRecognizer } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import type { AudioFeatures } from '../processors/audio/audio-features.js';
import { createWhisperExtractor } from '../processors/audio/whisper.js';
import { readOptionalJson } from '../repository/model-folder.js';
import { readersIn } from '../repository/named-readers.js';
import { readModelConfig } from '../repository/model-config.js';
import { openAudioInput, type AudioInput } from '../audio/audio-input.js';
import { loadTokenizer } from '../tokenizers/tokenizer.js';
import { openEncoderDecoder } from './decoding/encoder-decoder/open-encoder-decoder.js';
import { openAudioEncoder } from './decoding/encoder-decoder/audio-encoder.js';
import type { SourceModel } from './generate-from-source.js';
import { canaryPrompts } from './speech/canary.js';
import { cohereAsrPrompts } from './speech/cohere-asr.js';
import { createPlain } from './speech/plain.js';
import type { SpeechPrompts } from './speech/speech-prompts.js';
import { createWhisper } from './speech/whisper.js';

/** WhisperForConditionalGeneration, MoonshineForConditionalGeneration, CanaryForConditionalGeneration, SpeechEncoderDecoderModel. */
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
  const prompts = await promptsOf(request, model, audios);
  const transcribe =
    reader === 'whisper'
      ? createWhisper({ ...model, extractor: createWhisperExtractor(audios.settings) })
      : createPlain(model, { audios, reader, prompts });
  return {
    languages: prompts?.languages,
    async transcribe(audio, options, signal) {
      return transcribe(await audios.samples(audio, signal), options, signal);
    },
  };
}

/** What writes prompts; undefined for models that begin with a start token alone. */
async function promptsOf(
  request: LoadRequest,
  { tokenizer }: SourceModel<AudioFeatures>,
  { extractor, settings }: AudioInput,
): Promise<SpeechPrompts | undefined> {
  const { audio: reader } = readersIn(request);
  if (reader === 'canary') return canaryPrompts(request.dir, tokenizer);
  if (reader === 'cohere-asr') return cohereAsrPrompts(tokenizer, settings, extractor.rate);
  return undefined;
}
