import { RunError } from '../core/errors.js';
import { runFfmpeg } from './ffmpeg.js';

export interface AudioLimits {
  /** Longest audio clip (MAX_MEDIA_SECONDS). */
  maxSeconds: number;
  /** Bytes of memory for its samples. */
  maxBytes: number;
}

const BYTES = Float32Array.BYTES_PER_ELEMENT;

/**
 * Decodes the audio of a file: its channels mixed to one, resampled, -1 to 1 (transformers' ffmpeg_read). Of a broken file
 * what can be had, as in Python.
 *
 * @param rate samples per second
 * @throws RunError 413 too long, 422 no audio in it, or samples that are not finite; the signal's reason
 */
export async function decodeAudio(
  bytes: Uint8Array,
  { rate, limits, signal }: { rate: number; limits: AudioLimits; signal: AbortSignal },
): Promise<Float32Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  const { sniff } = await import('./sniff.js');
  await runFfmpeg(bytes, {
    streamed: isMp3(await sniff(bytes)),
    options: ['-vn', '-sn', '-dn', '-ac', '1', '-ar', String(rate), '-f', 'f32le'],
    signal,
    onData(chunk) {
      size += chunk.length;
      if (size > limits.maxSeconds * rate * BYTES) throw tooLong(limits);
      if (size > limits.maxBytes) throw tooLarge(limits, rate);
      chunks.push(chunk);
    },
  });
  const samples = new Float32Array(Math.floor(size / BYTES));
  if (samples.length === 0) throw new RunError('unprocessable', 'the file has no audio that can be decoded');
  const target = new Uint8Array(samples.buffer);
  let at = 0;
  for (const chunk of chunks) {
    target.set(chunk.subarray(0, target.length - at), at);
    at += chunk.length;
  }
  if (!samples.every((sample) => isFinite(sample))) throw notFinite();
  return samples;
}

const notFinite = (): RunError =>
  new RunError(
    'unprocessable',
    'the audio has samples that are not finite (NaN or Infinity): send a file without them',
  );

/**
 * Python hands ffmpeg its audio clips through a pipe. Of formats that can be read so the samples are the same, except those of an
 * MP3, whose silence at the end ffmpeg cuts only in files that it can seek in.
 */
const isMp3 = (mediaType: string | undefined): boolean => mediaType === 'audio/mpeg';

function tooLong({ maxSeconds }: AudioLimits): RunError {
  return new RunError(
    'payload_too_large',
    `the audio is longer than ${maxSeconds} s (MAX_MEDIA_SECONDS); send a part of it`,
  );
}

function tooLarge({ maxBytes }: AudioLimits, rate: number): RunError {
  const seconds = Math.floor(maxBytes / BYTES / rate);
  return new RunError(
    'payload_too_large',
    `the audio is longer than the ${seconds} s that this server has memory for; send a part of it, or give the server more memory`,
  );
}
