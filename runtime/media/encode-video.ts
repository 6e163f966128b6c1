import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RunError } from '../core/errors.js';
import { GUARDS, runProgram, withScratch } from './ffmpeg.js';

export const VIDEO_FORMATS = ['mp4', 'webm'] as const;
export type VideoFormat = (typeof VIDEO_FORMATS)[number];

export interface Video {
  /** Pixels, both even. */
  width: number;
  height: number;
  /** Frames per second. */
  fps: number;
  /** RGB, a byte a sample, one image after the other; asked for as they are needed. */
  frames: AsyncIterable<Uint8Array>;
}

export interface VideoEncoder {
  /** Containers that can be written. */
  readonly formats: readonly VideoFormat[];
  /**
   * @returns a file that starts to play before it is read to its end
   * @throws RunError `engine_failed` where ffmpeg fails; what `frames` threw; the signal's reason
   */
  encode(video: Video, format: VideoFormat, signal: AbortSignal): Promise<Buffer>;
}

/** Encoders, the first that there is is taken, with options that lose little. */
const ENCODERS: Record<VideoFormat, [name: string, options: (video: Video) => string[]][]> = {
  mp4: [
    ['libopenh264', (video) => ['-b:v', String(bitRate(video))]],
    ['libx264', () => ['-preset', 'medium', '-crf', '18']],
  ],
  webm: [['libvpx-vp9', () => ['-crf', '24', '-b:v', '0', '-deadline', 'good', '-cpu-used', '4']]],
};

const LEAST_BIT_RATE = 1_000_000;

/** Bits per second, for an encoder that has no measure of quality. */
const bitRate = ({ width, height, fps }: Video): number =>
  Math.max(LEAST_BIT_RATE, Math.round(width * height * fps * 0.5));

/**
 * Finds out what the ffmpeg that is there encodes.
 * @throws RunError `not_ready` without an ffmpeg that writes MP4 with H.264
 */
export async function openVideoEncoder(): Promise<VideoEncoder> {
  const known = await knownEncoders();
  const chosen = VIDEO_FORMATS.flatMap((format) => {
    const found = ENCODERS[format].find(([name]) => known.has(name));
    return found ? [[format, found] as const] : [];
  });
  const encoders = new Map(chosen);
  if (!encoders.has('mp4')) {
    throw new RunError(
      'not_ready',
      'this model needs an ffmpeg that encodes H.264 (libopenh264 or libx264): install one, or use the model’s image, which has it',
    );
  }
  return {
    formats: [...encoders.keys()],
    encode(video, format, signal) {
      const [name, options] = encoders.get(format)!;
      return encode(video, { format, codec: ['-c:v', name, ...options(video)], signal });
    },
  };
}

async function knownEncoders(): Promise<Set<string>> {
  const said: Buffer[] = [];
  const work = { onData: (chunk: Buffer) => void said.push(chunk), signal: new AbortController().signal };
  await runProgram('ffmpeg', ['-hide_banner', '-encoders'], work);
  const rows = Buffer.concat(said).toString().split('\n');
  return new Set(rows.map((row) => row.trim().split(/\s+/)[1] ?? ''));
}

interface Encoding {
  format: VideoFormat;
  codec: readonly string[];
  signal: AbortSignal;
}

function encode(video: Video, { format, codec, signal }: Encoding): Promise<Buffer> {
  return withScratch(signal, async (folder) => {
    const path = join(folder, `output.${format}`);
    const size = `${video.width}x${video.height}`;
    const args = [
      ...['-nostdin', ...GUARDS, '-protocol_whitelist', 'file,pipe'],
      ...['-f', 'rawvideo', '-pix_fmt', 'rgb24', '-s', size, '-r', String(video.fps), '-i', 'pipe:0'],
      ...[...codec, '-pix_fmt', 'yuv420p', ...(format === 'mp4' ? ['-movflags', '+faststart'] : [])],
      ...['-f', format, path],
    ];
    const status = await runProgram('ffmpeg', args, { input: video.frames, signal, onData: () => {} }).catch(
      (error: unknown) => {
        throw isClosedPipe(error) ? notEncoded(error) : error;
      },
    );
    signal.throwIfAborted();
    if (status !== 0) throw notEncoded();
    return readFile(path, { signal });
  });
}

const notEncoded = (cause?: unknown) =>
  new RunError('engine_failed', 'ffmpeg can’t encode the video', { cause });

/** A program that reads no further. */
const isClosedPipe = (error: unknown): boolean =>
  ['EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET'].includes(
    String((error as NodeJS.ErrnoException).code),
  );
