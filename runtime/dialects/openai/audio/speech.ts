import * as z from 'zod';
import { RunError } from '../../../core/errors.js';
import { sendMedia } from '../../../wire/respond.js';
import { askModel, setModelHeaders, sumTokens } from '../../ask.js';
import type { AskedModel, ServedModel } from '../../host.js';
import type { DialectCall } from '../../dialect.js';
import { hint, modelField, neutral, unsupportedField } from '../../fields.js';
import { AUDIO_FORMATS } from '../../../core/audio-formats.js';
import { mediaOf } from '../../media.js';
import { readRequest } from '../../read-request.js';
import { requireModel } from '../../require-model.js';
import { pcmOf } from './pcm.js';
import { VOICE_TASKS, voicesOf } from './voices.js';

/** POST v1/audio/speech. */
export const speechBody = z.strictObject({
  model: modelField,
  input: z.string().min(1),
  voice: z
    .union([z.string(), z.looseObject({ id: z.string() })])
    .nullish()
    .describe(
      'name or number of a voice (GET /v1/audio/voices); names of OpenAI’s own voices stand for the model’s usual one where it has none of that name',
    ),
  response_format: z
    .enum(['wav', 'pcm', ...AUDIO_FORMATS])
    .nullish()
    .transform((format) => format ?? 'mp3')
    .describe('mp3 by default'),
  speed: neutral([1], 'ask POST /run for the params of the model'),
  instructions: unsupportedField('models here take no instructions'),
  stream_format: neutral(['audio'], 'the audio is sent when it is made'),
  lang_code: hint(),
});

/** How callers call what the task may refuse. */
const NAMES = { text: 'input', speaker_id: 'voice', format: 'response_format' };

/** Voices that OpenAI’s clients name where any would do. */
const ANY_VOICE = /^(?:alloy|ash|ballad|coral|echo|fable|onyx|nova|sage|shimmer|verse|marin|cedar|default)$/i;

const NUMBER = /^\d{1,6}$/;

/** As `speaker_id` takes it; undefined: the usual one. */
type Voice = string | number | undefined;

export async function speak(call: DialectCall): Promise<void> {
  const { response, host } = call;
  const given = await readRequest(call, speechBody, { tasks: VOICE_TASKS });
  const model = requireModel(host, given.model, VOICE_TASKS);
  const isPcm = given.response_format === 'pcm';
  const format = isPcm ? 'wav' : given.response_format;
  const body = (voice: Voice) => ({
    text: given.input,
    params: { ...(voice !== undefined && { speaker_id: voice }), format },
  });
  const name = nameOf(given.voice);
  await askModel(host, response, { model, bodies: [body(name)], names: NAMES }, async (asked) => {
    const { output, usage } = await asked.ask(body(await wantedVoice(model, asked, name)), asked.signal);
    setModelHeaders(response, asked);
    const tokens = sumTokens([usage]);
    if (tokens) host.count(response, tokens);
    const audio = mediaOf(output);
    if (!audio) throw new RunError('engine_failed', 'the model made no audio');
    const sent = isPcm ? { mediaType: 'audio/pcm', media: pcmOf(audio.media) } : audio;
    sendMedia(response, sent, { raw: true });
  });
}

function nameOf(voice: z.output<typeof speechBody>['voice']): string | undefined {
  const name = typeof voice === 'object' && voice !== null ? voice.id : voice;
  return name == null || name === '' ? undefined : name;
}

/** A name that is a number is the model's own voice of that name, or the one of that number; one of OpenAI’s is its own, or the usual one. */
async function wantedVoice(model: ServedModel, asked: AskedModel, name: string | undefined): Promise<Voice> {
  const isNumber = name !== undefined && NUMBER.test(name);
  if (name === undefined || !(isNumber || ANY_VOICE.test(name))) return name;
  const voices = await voicesOf(model, asked);
  if (voices.includes(name)) return name;
  return isNumber ? Number(name) : undefined;
}
