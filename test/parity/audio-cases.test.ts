import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeAudio } from '../../runtime/media/decode-audio.js';
import { sniff } from '../../runtime/media/sniff.js';
import { scratchOf } from '../../runtime/boot/scratch.js';

const limits = { maxSeconds: 10, maxBytes: 2 ** 22 };
const RATE = 16_000;
/** Seconds and Hertz of the audio, and its height. */
const [LENGTH, TONE, HEIGHT] = [1, 440, 0.5];

const decode = (bytes: Uint8Array) =>
  decodeAudio(bytes, { rate: RATE, limits, signal: new AbortController().signal });

const leftovers = () => readdirSync(tmpdir()).filter((name) => name.startsWith(scratchOf(process.pid)));

/** Made here, since files of all kinds would be large; undefined where this ffmpeg lacks the encoder. */
function encoded(kind: string, { rate = 44_100, channels = 1, seconds = LENGTH, codec = [] as string[] }) {
  const folder = mkdtempSync(join(tmpdir(), 'battery-'));
  try {
    const path = join(folder, `audio.${kind}`);
    const voices = Array.from({ length: channels }, () => `${HEIGHT}*sin(2*PI*${TONE}*t)`).join('|');
    const source = `aevalsrc=${voices}:s=${rate}:d=${seconds}`;
    const args = ['-v', 'error', '-f', 'lavfi', '-i', source, ...codec, '-strict', '-2', path];
    return spawnSync('ffmpeg', args).status === 0 ? readFileSync(path) : undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Hertz by the changes of sign, and the height by the power, of the middle of an audio clip. */
function heard(samples: Float32Array) {
  const middle = samples.slice(samples.length * 0.25, samples.length * 0.75);
  let [changes, power] = [0, 0];
  for (let i = 1; i < middle.length; i++) {
    if (middle[i]! < 0 !== middle[i - 1]! < 0) changes++;
    power += middle[i]! ** 2;
  }
  return { tone: (changes / 2 / middle.length) * RATE, height: Math.sqrt((2 * power) / middle.length) };
}

/** transformers' ffmpeg_read. Empty for formats that can't be read from a pipe. */
function asPython(input: Buffer): Float32Array {
  const output = ['-ac', '1', '-ar', String(RATE), '-f', 'f32le'];
  const { stdout } = spawnSync('ffmpeg', ['-v', 'quiet', '-i', 'pipe:0', ...output, 'pipe:1'], { input });
  return new Float32Array(stdout.buffer.slice(stdout.byteOffset, stdout.byteOffset + stdout.length));
}

/** Thousands of numbers are slow to compare one by one. */
const digest = (samples: Float32Array) =>
  `${samples.length} ${createHash('sha256').update(samples).digest('hex')}`;

const pcm = (name: string) => ['-c:a', `pcm_${name}`];

/** Kind, settings, and by how many samples the length may differ: lossy codecs add some at the ends. */
const FILES: [kind: string, settings: Parameters<typeof encoded>[1], slack: number][] = [
  ...['u8', 's16le', 's24le', 's32le', 'f32le', 'f64le', 'mulaw', 'alaw'].map(
    (name) => ['wav', { codec: pcm(name) }, 1] as [string, object, number],
  ),
  ['wav', { codec: ['-c:a', 'adpcm_ima_wav'] }, 800],
  ['aiff', {}, 1],
  ['caf', {}, 1],
  ['w64', {}, 1],
  ['wav', { codec: ['-rf64', 'always'] }, 1],
  ['ac3', {}, 1600],
  ['eac3', {}, 1600],
  ['au', {}, 1],
  ['flac', {}, 1],
  ['mp3', {}, 1200],
  ['aac', {}, 2000],
  ['m4a', {}, 1200],
  ['ogg', { codec: ['-c:a', 'libvorbis'] }, 800],
  ['opus', { rate: 48_000 }, 800],
  ['webm', { rate: 48_000, codec: ['-c:a', 'libopus'] }, 800],
  ['mka', { codec: ['-c:a', 'flac'] }, 800],
  ...[8000, 11_025, 12_345, 16_000, 22_050, 96_000].map(
    (rate) => ['wav', { rate }, 2] as [string, object, number],
  ),
  ...[2, 3, 6, 8].map((channels) => ['wav', { channels }, 1] as [string, object, number]),
  ['flac', { channels: 2, rate: 32_000 }, 1],
];

/** What requests for audio clips take. */
const KIND = /^(?:audio|video)\/|\/ogg$/;

const HAS_FFMPEG = spawnSync('ffmpeg', ['-version']).status === 0;
(HAS_FFMPEG ? describe : describe.skip)('audio of many kinds (skipped without ffmpeg)', () => {
  afterEach(() => expect(leftovers()).toEqual([]));

  test.each(FILES)('%s %j', async (kind, settings, slack) => {
    const file = encoded(kind, settings);
    // The small ffmpeg of the image decodes more than it encodes.
    if (!file) return;
    const samples = await decode(file);
    expect(await sniff(file)).toMatch(KIND);
    expect(Math.abs(samples.length - LENGTH * RATE)).toBeLessThanOrEqual(slack);
    const { tone, height } = heard(samples);
    expect(Math.abs(tone - TONE)).toBeLessThan(3);
    if ((settings.channels ?? 1) === 1) expect(Math.abs(height - HEIGHT)).toBeLessThan(0.03);
    const python = asPython(file);
    if (python.length > 0) expect(digest(samples)).toBe(digest(python));
  });

  test('BW64 is RF64 by another name', async () => {
    const file = encoded('wav', { codec: ['-rf64', 'always'] })!;
    const samples = await decode(file);
    file.write('BW64');
    expect(await sniff(file)).toBe('audio/wav');
    expect(digest(await decode(file))).toBe(digest(samples));
  });

  test('one sample is an audio clip', async () => {
    const file = wav(Int16Array.of(16_384));
    expect(Array.from(await decode(file))).toEqual([0.5]);
  });

  test('no samples are none', async () => {
    await expect(decode(wav(new Int16Array(0)))).rejects.toMatchObject({ code: 'unprocessable' });
  });

  test('what was cut in the middle gives its beginning, or is refused', async () => {
    for (const kind of ['wav', 'flac', 'mp3', 'ogg', 'm4a', 'webm']) {
      const file = encoded(kind, {});
      if (!file) continue;
      const found = await decode(file.subarray(0, file.length / 2)).catch((error: unknown) => error);
      if (found instanceof Float32Array) expect(found.length).toBeLessThan(RATE);
      else expect(found).toMatchObject({ code: 'unprocessable' });
    }
  });

  test.each([
    ['more samples than there are', (header: DataView) => header.setUint32(40, 0x7fffffff, true)],
    ['no bytes for a sample', (header: DataView) => header.setUint16(32, 0, true)],
    ['no rate', (header: DataView) => header.setUint32(24, 0, true)],
    ['a rate beyond all others', (header: DataView) => header.setUint32(24, 0xffffffff, true)],
    ['no channels', (header: DataView) => header.setUint16(22, 0, true)],
    ['65535 channels', (header: DataView) => header.setUint16(22, 65_535, true)],
    ['a format that is not known', (header: DataView) => header.setUint16(20, 0x4242, true)],
  ])('a header that tells of %s makes no samples up', async (_, lie) => {
    const file = wav(new Int16Array(1600).fill(8192));
    lie(new DataView(file.buffer, file.byteOffset, file.length));
    const found = await decode(file).catch((error: unknown) => error);
    if (found instanceof Float32Array) expect(found.length).toBeLessThanOrEqual(RATE * limits.maxSeconds);
    else expect(found).toMatchObject({ code: expect.stringMatching(/^(unprocessable|payload_too_large)$/) });
  });
});

/** One channel at the rate that is decoded to. */
function wav(samples: Int16Array): Buffer {
  const file = Buffer.alloc(44 + samples.length * 2);
  file.write('RIFF', 0);
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(RATE, 24);
  file.writeUInt32LE(RATE * 2, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36);
  file.writeUInt32LE(samples.length * 2, 40);
  for (const [i, sample] of samples.entries()) file.writeInt16LE(sample, 44 + i * 2);
  return file;
}
