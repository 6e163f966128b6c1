import * as z from 'zod';
import type { SpeechSynthesizer } from '../core/handles/index.js';
import type { MediaOutput } from '../core/media-output.js';
import { encodeWav } from '../core/wav.js';
import { AUDIO_FORMATS } from '../core/audio-formats.js';
import {
  defineTask,
  type EngineBinding,
  type Resolved,
  type RunContext,
  type TaskDefinition,
} from './define.js';
import { params } from './fragments.js';
import { generationParams } from './generation-params.js';

const { do_sample, temperature, top_k, top_p, min_p, typical_p, max_new_tokens, max_length, seed } =
  generationParams;

/** Longest vector that tells a voice. */
const MAX_VOICE = 4096;
const voice = z.array(z.number()).min(1).max(MAX_VOICE);
const ratio = z.number().min(0).max(1000).nullish();

/** A text of which an audio clip is made. Which parameters a model takes depends on its family. */
const audioInput = z.object({
  text: z.string().min(1),
  params: params({
    speaker_embeddings: z
      .union([voice, z.array(voice).length(1)])
      .nullish()
      .describe('the voice as a vector, or a list of one; SpeechT5 needs it'),
    threshold: z
      .number()
      .nullish()
      .describe('SpeechT5: probability of an end that ends the speech, 0.5 by default'),
    minlenratio: ratio.describe('SpeechT5: least length in frames per token of the text, 0 by default'),
    maxlenratio: ratio.describe('SpeechT5: most length in frames per token of the text, 20 by default'),
    speaker_id: z
      .union([z.int().min(0), z.string().min(1).max(200)])
      .nullish()
      .describe(
        'VITS of several voices: which one, by its number or by the name that config.json gives it; by default none of them, in exports that want one the first',
      ),
    guidance_scale: z
      .number()
      .min(1)
      .nullish()
      .describe('MusicGen: more than 1 moves away from what would come without the text'),
    format: z
      .enum(['wav', ...AUDIO_FORMATS])
      .nullish()
      .describe('wav with every sample as the model made it, by default; no parameter of Python’s'),
    ...{ max_new_tokens, max_length, do_sample, temperature, top_k, top_p, min_p, typical_p, seed },
  }),
});

type AudioInput = z.output<typeof audioInput>;

/** A file as a data URL. */
const audioOutput = z
  .string()
  .describe(
    'data URL of an audio file, WAV at the model’s rate by default, or with json: true the file itself',
  );

async function speak(
  handle: SpeechSynthesizer,
  { text, params: { format, ...options } }: Resolved<AudioInput>,
  { signal }: RunContext,
): Promise<MediaOutput> {
  const { samples, rate } = await handle.speak(text, options, signal);
  if (format && format !== 'wav') return handle.encode({ samples, rate }, format, signal);
  return { mediaType: 'audio/wav', media: encodeWav(samples, rate) };
}

const DECODERS = [['decoder_model_merged'], ['decoder_model', 'decoder_with_past_model']];

/** A task that makes audio clips of texts: Python has one pipeline for all of them. */
export function audioTask(
  names: Pick<TaskDefinition, 'title' | 'summary'>,
  text: string,
): TaskDefinition<AudioInput, string> {
  const speech: EngineBinding<'speech', AudioInput, string> = {
    head: 'speech',
    // VITS, of an exporter and of ours; MusicGen; SpeechT5.
    graphs: ['model'],
    otherGraphs: [
      ['letter_encoder', 'letter_decoder'],
      ...DECODERS.flatMap((decoder) => [
        ['text_encoder', ...decoder, 'encodec_decode'],
        ['encoder_model', ...decoder, 'decoder_postnet_and_vocoder'],
        ['encoder_model', ...decoder, 'postnet', 'vocoder'],
      ]),
    ],
    files: [
      ...['tokenizer.json', 'tokenizer_config.json', 'vocab.json', 'added_tokens.json'],
      ...['special_tokens_map.json', 'generation_config.json', 'preprocessor_config.json'],
      'vocoder/config.json',
    ],
    voices: ({ voices }) => voices,
    example: ({ exampleOptions }) => ({ text, params: exampleOptions }),
    run: speak,
  };
  return defineTask({
    ...names,
    ...{
      modality: 'text',
      makes: 'audio',
      streams: false,
      // Its ffmpeg writes the formats.
      profile: 'media',
      input: audioInput,
      output: audioOutput,
    },
    example: { text },
    engines: { speech },
  });
}
