import { z } from 'zod';
import type { SpeechSynthesizer } from '../core/handles/index.js';
import type { MediaOutput } from '../core/media-output.js';
import { encodeWav } from '../core/wav.js';
import type { EngineBinding, Resolved, RunContext } from './define.js';
import { params } from './fragments.js';

/** A text of which a sound is made. */
export const soundInput = z.object({
  text: z.string().min(1),
  params: params({}),
});

/** A WAV file as a data URL. */
export const soundOutput = z
  .string()
  .describe('data URL of a WAV file at the model’s rate, or with json: true the file itself');

async function speak(
  handle: SpeechSynthesizer,
  { text, params: options }: Resolved<z.output<typeof soundInput>>,
  { signal }: RunContext,
): Promise<MediaOutput> {
  const { samples, rate } = await handle.speak(text, options, signal);
  return { mediaType: 'audio/wav', media: encodeWav(samples, rate) };
}

export const soundEngines = {
  speech: {
    head: 'speech',
    graphs: ['model'],
    files: [
      'tokenizer.json',
      'tokenizer_config.json',
      'vocab.json',
      'added_tokens.json',
      'special_tokens_map.json',
    ],
    run: speak,
  } satisfies EngineBinding<'speech', z.output<typeof soundInput>, string>,
};
