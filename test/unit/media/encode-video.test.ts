import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { type Video, openVideoEncoder, VIDEO_FORMATS } from '../../../runtime/media/encode-video.js';
import { withVideo } from '../../../runtime/media/video.js';
import { scratchOf } from '../../../runtime/boot/scratch.js';

const [WIDTH, HEIGHT, FRAMES] = [48, 32, 5];
const limits = { maxPixels: 1e6, maxSeconds: 10 };
const live = () => new AbortController().signal;

/** Grey frames, each lighter than the one before. */
async function* greys(): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < FRAMES; i++) yield Buffer.alloc(WIDTH * HEIGHT * 3, 40 * (i + 1));
}

const video = (changes: Partial<Video> = {}): Video => ({
  ...{ width: WIDTH, height: HEIGHT, fps: 8, frames: greys() },
  ...changes,
});

const leftovers = () => readdirSync(tmpdir()).filter((name) => name.startsWith(scratchOf(process.pid)));

// scripts/ffmpeg.sh installs it where it may; in CI it has to be there.
const HAS_FFMPEG = spawnSync('ffmpeg', ['-version']).status === 0 || process.env['REQUIRE_FFMPEG'] === '1';
(HAS_FFMPEG ? describe : describe.skip)('videos, by ffmpeg (skipped where there is none)', () => {
  afterEach(() => expect(leftovers()).toEqual([]));

  test.each(VIDEO_FORMATS)('%s holds the frames, eight a second', async (format) => {
    const encoder = await openVideoEncoder();
    expect(encoder.formats).toContain(format);
    const file = await encoder.encode(video(), format, live());
    await withVideo(file, { limits, signal: live() }, async (video) => {
      expect(video.facts).toMatchObject({ width: WIDTH, height: HEIGHT, frames: FRAMES, fps: 8 });
      const levels: number[] = [];
      const numbers = Array.from({ length: FRAMES }, (_, i) => i);
      await video.frames(numbers, ({ data }) => void levels.push(data[0]!));
      for (const [i, level] of levels.entries()) expect(Math.abs(level - 40 * (i + 1))).toBeLessThan(6);
    });
  });

  test('what the frames throw is thrown', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield* greys();
      throw new Error('no more');
    }
    const { encode } = await openVideoEncoder();
    await expect(encode(video({ frames: broken() }), 'mp4', live())).rejects.toThrow('no more');
  });

  test('what can’t be encoded fails', async () => {
    const { encode } = await openVideoEncoder();
    await expect(encode(video({ width: 0 }), 'mp4', live())).rejects.toMatchObject({
      code: 'engine_failed',
      message: expect.stringContaining('can’t encode'),
    });
  });

  test('a caller who leaves ends the encoder', async () => {
    const caller = new AbortController();
    async function* leaving(): AsyncGenerator<Uint8Array> {
      yield* greys();
      caller.abort(new Error('left'));
      yield* greys();
    }
    const { encode } = await openVideoEncoder();
    await expect(encode(video({ frames: leaving() }), 'mp4', caller.signal)).rejects.toThrow('left');
  });
});
