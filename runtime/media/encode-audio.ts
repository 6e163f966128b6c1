import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RunError } from '../core/errors.js';
import type { Audio } from '../core/handles/index.js';
import type { MediaOutput } from '../core/media-output.js';
import type { AudioFormat } from '../core/audio-formats.js';
import { GUARDS, runProgram, withScratch } from './ffmpeg.js';

interface Encoding {
  mediaType: string;
  /** Options of ffmpeg: codec and container. */
  options: readonly string[];
}

/** Formats that ffmpeg writes of an audio clip. Opus knows 48 kHz and its halves, ffmpeg resamples. */
const ENCODINGS: Record<AudioFormat, Encoding> = {
  mp3: { mediaType: 'audio/mpeg', options: ['-c:a', 'libmp3lame', '-q:a', '2', '-f', 'mp3'] },
  opus: { mediaType: 'audio/ogg', options: ['-c:a', 'libopus', '-ar', '48000', '-f', 'ogg'] },
  aac: { mediaType: 'audio/aac', options: ['-c:a', 'aac', '-b:a', '128k', '-f', 'adts'] },
  flac: { mediaType: 'audio/flac', options: ['-c:a', 'flac', '-f', 'flac'] },
};

const FLOAT = Float32Array.BYTES_PER_ELEMENT;

/** Bytes that are handed to ffmpeg at once. */
const PIECE = 65_536;

/**
 * Encodes an audio clip with ffmpeg, as a process of its own that ends with its caller.
 * @throws RunError `unprocessable` where there is no ffmpeg that writes the format; the signal's reason
 */
export function encodeAudio(audio: Audio, format: AudioFormat, signal: AbortSignal): Promise<MediaOutput> {
  const { mediaType, options } = ENCODINGS[format];
  return withScratch(signal, async (folder) => {
    // Headers that tell the length are written last, so the place has to be one that can be gone back to.
    const path = join(folder, 'output');
    const args = [
      ...['-nostdin', ...GUARDS, '-protocol_whitelist', 'file,pipe'],
      ...['-f', 'f32le', '-ar', String(audio.rate), '-ac', '1', '-i', 'pipe:0'],
      ...[...options, path],
    ];
    const work = { input: piecesOf(audio.samples), signal, onData: () => {} };
    const status = await runProgram('ffmpeg', args, work).catch((cause: unknown) => {
      signal.throwIfAborted();
      throw notEncoded(format, cause);
    });
    signal.throwIfAborted();
    if (status !== 0) throw notEncoded(format);
    return { mediaType, media: await readFile(path, { signal }) };
  });
}

async function* piecesOf({ buffer, byteOffset, length }: Float32Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < length * FLOAT; at += PIECE)
    yield new Uint8Array(buffer, byteOffset + at, Math.min(PIECE, length * FLOAT - at));
}

const notEncoded = (format: AudioFormat, cause?: unknown) =>
  new RunError(
    'unprocessable',
    `params.format: no ffmpeg of this server writes ${format}; ask for wav, or use the model’s image, which has one`,
    { cause },
  );
