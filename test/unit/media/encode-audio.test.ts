import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { AUDIO_FORMATS } from '../../../runtime/core/audio-formats.js';
import { encodeAudio } from '../../../runtime/media/encode-audio.js';
import { sniff } from '../../../runtime/media/sniff.js';
import { decodeAudio } from '../../../runtime/media/decode-audio.js';
import { scratchOf } from '../../../runtime/boot/scratch.js';

const RATE = 16_000;
const HERTZ = 440;
/** A second of a tone of 440 Hz at half of full scale. */
const tone = {
  samples: Float32Array.from({ length: RATE }, (_, i) => Math.sin((2 * Math.PI * HERTZ * i) / RATE) / 2),
  rate: RATE,
};
const live = () => new AbortController().signal;
const limits = { maxSeconds: 10, maxBytes: 1e7 };

const leftovers = () => readdirSync(tmpdir()).filter((name) => name.startsWith(scratchOf(process.pid)));

/** How often a tone passes zero upwards, between two samples. */
const risesOf = (samples: Float32Array): number =>
  samples.reduce((count, sample, i) => count + Number(i > 0 && samples[i - 1]! < 0 && sample >= 0), 0);

// scripts/ffmpeg.sh installs it where it may; in CI it has to be there.
const HAS_FFMPEG = spawnSync('ffmpeg', ['-version']).status === 0 || process.env['REQUIRE_FFMPEG'] === '1';
(HAS_FFMPEG ? describe : describe.skip)('audio, by ffmpeg (skipped where there is none)', () => {
  afterEach(() => expect(leftovers()).toEqual([]));

  test.each(AUDIO_FORMATS)('%s holds the tone', async (format) => {
    const { media, mediaType } = await encodeAudio(tone, format, live());
    expect((await sniff(media))!.replace('audio/opus', 'audio/ogg')).toContain(mediaType);
    const back = await decodeAudio(media, { rate: RATE, limits, signal: live() });
    // Encoders put silence before and after.
    expect(Math.abs(back.length - RATE)).toBeLessThan(RATE / 5);
    expect(Math.abs(risesOf(back.slice(RATE / 5, RATE * 0.7)) - HERTZ / 2)).toBeLessThan(3);
    const loudest = back.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    expect(Math.abs(loudest - 0.5)).toBeLessThan(0.06);
  });

  test('flac keeps each sample to its 16 or 24 bits', async () => {
    const { media } = await encodeAudio(tone, 'flac', live());
    const back = await decodeAudio(media, { rate: RATE, limits, signal: live() });
    const furthest = back.reduce((most, sample, i) => Math.max(most, Math.abs(sample - tone.samples[i]!)), 0);
    expect(furthest).toBeLessThan(2 ** -15);
  });

  test('a caller who leaves ends the encoder', async () => {
    const caller = new AbortController();
    const encoding = encodeAudio({ ...tone, samples: new Float32Array(RATE * 600) }, 'opus', caller.signal);
    setTimeout(() => caller.abort(new Error('left')), 50);
    await expect(encoding).rejects.toThrow('left');
  });
});

test('where ffmpeg can’t, the format is refused, and what to ask for is said', async () => {
  await expect(encodeAudio({ ...tone, rate: -1 }, 'mp3', live())).rejects.toMatchObject({
    code: 'unprocessable',
    message: expect.stringMatching(/params\.format: .*mp3; ask for wav/),
  });
});
