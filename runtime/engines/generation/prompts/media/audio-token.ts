import { RunError } from '../../../../core/errors.js';
import type { FamilyFiles, AudioFamily } from './family.js';

/**
 * The token of audio clips.
 * @param written what the processor takes for it
 * @throws RunError not_ready where the tokenizer has none
 */
export function audioToken(
  { config, tokenizer }: FamilyFiles,
  written: string,
): Pick<AudioFamily, 'placeholder' | 'tokenId'> {
  const named = config['audio_token_id'] ?? config['audio_token_index'];
  const tokenId = tokenizer.idOf(written) ?? (typeof named === 'number' ? named : undefined);
  const placeholder = tokenId === undefined ? undefined : tokenizer.tokenOf(tokenId);
  if (tokenId !== undefined && placeholder) return { placeholder, tokenId };
  throw new RunError('not_ready', `the model has no token of audio (${written}, audio_token_id)`);
}

type AudioToken = ReturnType<typeof audioToken>;

/** The same. @throws RunError not_ready also where config.json has another one */
export function sameAudioToken(files: FamilyFiles, written: string): AudioToken {
  const token = audioToken(files, written);
  const read = files.config['audio_token_id'];
  if (read === undefined || read === token.tokenId) return token;
  throw new RunError('not_ready', `config.json: audio_token_id is not the token ${token.placeholder}`);
}

/** Tokens of a clip, of models whose processor takes no others beside it. @param why behind the refusal */
export const ofOneClip =
  ({ placeholder }: AudioToken, why = ''): AudioFamily['expand'] =>
  ({ count }, all = []) => {
    if (all.length <= 1) return placeholder.repeat(count);
    throw new RunError('unprocessable', `messages: this model reads one audio clip in a conversation${why}`);
  };

/** What the encoders read of a clip that is taken as long as it is. */
interface StepExtractor {
  readonly width: number;
  stepsOf(samples: number): number;
  extract(samples: Float32Array, signal: AbortSignal): Promise<Float32Array>;
}

/** One run over all steps of a clip. */
export const inOneRun =
  ({ width, stepsOf, extract }: StepExtractor): AudioFamily['prepare'] =>
  async (samples, signal) => {
    const dims = [1, stepsOf(samples.length), width];
    const data = await extract(samples, signal);
    return [() => ({ input_features: { type: 'float32', data, dims } })];
  };
