import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Bytes of a data URL, or of bare Base64. */
export const bytesOf = (text: string): Buffer => Buffer.from(text.replace(/^data:[^,]*,/, ''), 'base64');

/** What ffmpeg makes of a file: raw samples or pixels. */
function decoded(file: Buffer, ...options: string[]): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'media-'));
  try {
    const path = join(folder, 'file');
    writeFileSync(path, file);
    const args = ['-v', 'error', '-i', path, ...options, 'pipe:1'];
    const { stdout, stderr, status } = spawnSync('ffmpeg', args, { maxBuffer: 2 ** 30 });
    if (status !== 0) throw new Error(stderr.toString());
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const RATE_OFFSET = 24;

/** Where an audio clip is further from the expected one than a ratio of signal to noise allows. Both are WAV files. */
export function audioDifference(
  actual: Buffer,
  expected: Buffer,
  snrDb: number,
  path: string,
): string | null {
  const [rate, wantedRate] = [actual, expected].map((file) => file.readUInt32LE(RATE_OFFSET));
  if (rate !== wantedRate) return `${path}: ${rate} samples per second, expected ${wantedRate}`;
  const [found, wanted] = [actual, expected].map((file) => samplesOf(file)) as [Float32Array, Float32Array];
  if (found.length !== wanted.length) return `${path}: ${found.length} samples, expected ${wanted.length}`;
  let [signal, noise] = [0, 0];
  for (const [i, sample] of wanted.entries()) {
    signal += sample ** 2;
    noise += (sample - found[i]!) ** 2;
  }
  const ratio = 10 * Math.log10(signal / noise);
  return noise === 0 || ratio >= snrDb ? null : `${path}: ${ratio} dB, expected ${snrDb}`;
}

function samplesOf(file: Buffer): Float32Array {
  const raw = decoded(file, '-f', 'f32le');
  return new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length));
}

/** Where the frames of a video differ by more levels than allowed, on average. */
export function videoDifference(
  actual: Buffer,
  expected: Buffer,
  meanAbs: number,
  path: string,
): string | null {
  const raw = (file: Buffer) =>
    decoded(file, '-fps_mode', 'passthrough', '-f', 'rawvideo', '-pix_fmt', 'rgb24');
  const [found, wanted] = [raw(actual), raw(expected)];
  if (found.length !== wanted.length)
    return `${path}: ${found.length} bytes of frames, expected ${wanted.length}`;
  const sum = wanted.reduce((total, level, i) => total + Math.abs(level - found[i]!), 0);
  const mean = sum / wanted.length;
  return mean <= meanAbs ? null : `${path}: differs by ${mean} levels, allowed ${meanAbs}`;
}
