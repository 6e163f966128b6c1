import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { runFfmpeg } from '../../../runtime/media/ffmpeg.js';
import { decodeAudio } from '../../../runtime/media/decode-audio.js';
import { scratchOf } from '../../../runtime/boot/scratch.js';
import { sampleAudio } from '../../../runtime/tasks/sample-audio.js';

const limits = { maxSeconds: 10, maxBytes: 2 ** 20 };
const tone = Buffer.from(sampleAudio(), 'base64');

const decode = (
  bytes: Uint8Array,
  changes: Partial<typeof limits> = {},
  signal = new AbortController().signal,
) => decodeAudio(bytes, { rate: 8000, limits: { ...limits, ...changes }, signal });

const leftovers = () => readdirSync(tmpdir()).filter((name) => name.startsWith(scratchOf(process.pid)));

// scripts/ffmpeg.sh installs it where it may; in CI it has to be there.
const HAS_FFMPEG = spawnSync('ffmpeg', ['-version']).status === 0 || process.env['REQUIRE_FFMPEG'] === '1';
(HAS_FFMPEG ? describe : describe.skip)('audio, by ffmpeg (skipped where there is none)', () => {
  afterEach(() => expect(leftovers()).toEqual([]));

  test('are resampled to the rate that the model wants', async () => {
    const samples = await decode(tone);
    expect(samples).toHaveLength(2000);
    expect(Math.max(...samples)).toBeGreaterThan(0.7);
    expect(Math.max(...samples)).toBeLessThan(0.85);
  });

  test('that are too long are refused, with the setting', async () => {
    await expect(decode(tone, { maxSeconds: 0.1 })).rejects.toMatchObject({
      code: 'payload_too_large',
      message: expect.stringContaining('MAX_MEDIA_SECONDS'),
    });
    await expect(decode(tone, { maxBytes: 400 })).rejects.toMatchObject({ code: 'payload_too_large' });
  });

  test('that were cut give what is there', async () => {
    expect((await decode(tone.subarray(0, 44 + 500))).length).toBeGreaterThan(900);
  });

  test.each([NaN, Infinity, -Infinity])('with a sample that is %d are refused', async (value) => {
    const samples = new Float32Array(8000);
    samples[4000] = value;
    const header = Buffer.alloc(44);
    header.write('RIFF');
    header.writeUInt32LE(36 + samples.byteLength, 4);
    header.write('WAVEfmt ', 8);
    for (const [at, number] of [
      [16, 16],
      [24, 16_000],
      [28, 64_000],
      [40, samples.byteLength],
    ] as const)
      header.writeUInt32LE(number, at);
    // IEEE floats of one channel.
    for (const [at, number] of [
      [20, 3],
      [22, 1],
      [32, 4],
      [34, 32],
    ] as const)
      header.writeUInt16LE(number, at);
    header.write('data', 36);
    await expect(decode(Buffer.concat([header, new Uint8Array(samples.buffer)]))).rejects.toMatchObject({
      code: 'unprocessable',
      message: expect.stringContaining('not finite'),
    });
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['noise', Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 251))],
    [
      'a playlist',
      Buffer.from('#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n'),
    ],
    ['a list of files', Buffer.from("ffconcat version 1.0\nfile '/etc/hostname'\n")],
    [
      'a description of a stream',
      Buffer.from('v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=audio 5004 RTP/AVP 0\n'),
    ],
    ['a header alone', tone.subarray(0, 44)],
  ])('%s is no audio', async (_, bytes) => {
    const problem = await decode(bytes).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(problem).toMatchObject({ code: 'unprocessable', message: expect.not.stringContaining(tmpdir()) });
  });

  test('whose caller leaves while they are decoded are no part of an audio clip', async () => {
    const leaving = new AbortController();
    const half = runFfmpeg(tone, {
      options: ['-f', 'f32le'],
      signal: leaving.signal,
      onData: () => leaving.abort(new Error('left')),
    });
    await expect(half).rejects.toThrow('left');
  });

  test('whose caller leaves are given up', async () => {
    const leaving = new AbortController();
    const decoding = decode(tone, {}, leaving.signal);
    leaving.abort(new Error('left'));
    await expect(decoding).rejects.toThrow('left');
  });
});
