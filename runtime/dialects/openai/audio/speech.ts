import * as z from 'zod';
import { RunError } from '../../../core/errors.js';
import { sendMedia } from '../../../wire/respond.js';
import { answerAll } from '../../ask.js';
import type { DialectCall } from '../../dialect.js';
import { hint, modelField, neutral, unsupportedField } from '../../fields.js';
import { SOUND_FORMATS } from '../../../core/sound-formats.js';
import { mediaOf } from '../../media.js';
import { readRequest } from '../../read-request.js';
import { requireModel } from '../../require-model.js';
import { pcmOf } from './pcm.js';

export const VOICE_TASKS = ['text-to-speech', 'text-to-audio'] as const;

/** POST v1/audio/speech. */
export const speechBody = z.strictObject({
  model: modelField,
  input: z.string().min(1),
  voice: z
    .union([z.string(), z.looseObject({ id: z.string() })])
    .nullish()
    .describe('number of a voice; names of OpenAI’s own voices stand for the model’s first'),
  response_format: z
    .enum(['wav', 'pcm', ...SOUND_FORMATS])
    .nullish()
    .transform((format) => format ?? 'mp3')
    .describe('mp3 by default'),
  speed: neutral([1], 'ask POST /run for the params of the model'),
  instructions: unsupportedField('models here take no instructions'),
  stream_format: neutral(['audio'], 'the sound is sent when it is made'),
  lang_code: hint(),
});

/** How callers call what the task may refuse. */
const NAMES = { text: 'input', speaker_id: 'voice', format: 'response_format' };

/** Voices that OpenAI’s clients name where any would do. */
const ANY_VOICE = /^(?:alloy|ash|ballad|coral|echo|fable|onyx|nova|sage|shimmer|verse|marin|cedar|default)$/i;

export async function speak(call: DialectCall): Promise<void> {
  const { response, host } = call;
  const given = await readRequest(call, speechBody, { tasks: VOICE_TASKS });
  const model = requireModel(host, given.model, VOICE_TASKS);
  const isPcm = given.response_format === 'pcm';
  const format = isPcm ? 'wav' : given.response_format;
  const bodies = [{ text: given.input, params: { ...voiceParams(given.voice), format } }];
  await answerAll(call, { model, bodies, names: NAMES }, ([answer]) => {
    const sound = mediaOf(answer!.output);
    if (!sound) throw new RunError('engine_failed', 'the model made no sound');
    const sent = isPcm ? { mediaType: 'audio/pcm', media: pcmOf(sound.media) } : sound;
    sendMedia(response, sent, { raw: true });
  });
}

/** @throws RunError 400 for a voice that is neither a number nor one of the usual names */
function voiceParams(voice: z.output<typeof speechBody>['voice']): Record<string, unknown> {
  const name = voice == null || typeof voice === 'string' ? voice : voice.id;
  if (name == null || name === '' || ANY_VOICE.test(name)) return {};
  if (/^\d{1,6}$/.test(name)) return { speaker_id: Number(name) };
  throw new RunError(
    'invalid_input',
    `voice: ${name.slice(0, 100)} is not known; voices here have numbers, from 0`,
  );
}
