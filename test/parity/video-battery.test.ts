import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunError } from '../../runtime/core/errors.js';
import type { Image } from '../../runtime/media/decoded-image.js';
import { type VideoFacts, withVideo } from '../../runtime/media/video.js';
import { scratchOf } from '../../runtime/boot/scratch.js';
import { HAS_FFMPEG } from './ffmpeg.js';

/** Videos that scripts/fixtures/video_battery.py made, beside what PyAV makes of them. */
interface Case {
  file: string;
  frames: { size: [width: number, height: number]; means: number[] }[];
  /** Why Python read no further. */
  error?: string;
}

const FOLDER = join(import.meta.dirname, '../fixtures/videos');
const cases = JSON.parse(await readFile(join(FOLDER, 'cases.json'), 'utf8')) as Case[];

const limits = { maxPixels: 1_000_000, maxSeconds: 60 };
/** Parts of a frame along its height and width. */
const [ROWS, COLUMNS] = [3, 4];
/** Levels by which means of parts may differ: roundings; of odd sizes each version of ffmpeg enlarges the colours its own way. */
const toleranceOf = ([width, height]: [number, number]): number => (width % 2 || height % 2 ? 10 : 0.1);

function meansOf({ data, width, height }: Image): number[] {
  const edges = (size: number, parts: number) =>
    Array.from({ length: parts + 1 }, (_, i) => Math.floor((size * i) / parts));
  const [rows, columns] = [edges(height, ROWS), edges(width, COLUMNS)];
  const means: number[] = [];
  for (let i = 0; i < ROWS; i++) {
    for (let j = 0; j < COLUMNS; j++) {
      const sums = [0, 0, 0];
      for (let y = rows[i]!; y < rows[i + 1]!; y++) {
        for (let x = columns[j]!; x < columns[j + 1]!; x++) {
          for (let channel = 0; channel < 3; channel++)
            sums[channel]! += data[(y * width + x) * 3 + channel]!;
        }
      }
      const count = (rows[i + 1]! - rows[i]!) * (columns[j + 1]! - columns[j]!);
      means.push(...sums.map((sum) => sum / count));
    }
  }
  return means;
}

interface Read {
  facts: VideoFacts;
  frames: Case['frames'];
}

/** All frames; an error of the contract instead of a video. */
async function read(bytes: Uint8Array): Promise<Read | RunError> {
  const { signal } = new AbortController();
  const frames: Case['frames'] = [];
  const all = withVideo(bytes, { limits, signal }, async (video) => {
    const numbers = Array.from({ length: video.facts.frames }, (_, i) => i);
    await video.frames(numbers, (image) => {
      frames.push({ size: [image.width, image.height], means: meansOf(image) });
    });
    return { facts: video.facts, frames };
  });
  return all.catch((error: unknown) => {
    if (error instanceof RunError) return error;
    throw error;
  });
}

function expectSameFrames(found: Case['frames'], expected: Case['frames']): void {
  for (const [i, { size, means }] of expected.slice(0, found.length).entries()) {
    expect(found[i]!.size).toEqual(size);
    const tolerance = toleranceOf(size);
    const farthest = Math.max(...means.map((mean, at) => Math.abs(mean - found[i]!.means[at]!)));
    expect({ frame: i, farthest: farthest <= tolerance || farthest }).toEqual({ frame: i, farthest: true });
  }
}

const leftovers = () => readdirSync(tmpdir()).filter((name) => name.startsWith(scratchOf(process.pid)));

(HAS_FFMPEG ? describe : describe.skip)('videos of many kinds (skipped without ffmpeg)', () => {
  afterEach(() => expect(leftovers()).toEqual([]));

  const isCut = ({ file, error }: Case) => file.startsWith('cut-') || error !== undefined;
  const whole = cases.filter((one) => !isCut(one) && one.frames.length > 0);

  test.each(whole)('$file has Python’s frames', async ({ file, frames }) => {
    const found = (await read(await readFile(join(FOLDER, file)))) as Read;
    expect(found).not.toBeInstanceOf(RunError);
    expect(found.frames).toHaveLength(frames.length);
    expectSameFrames(found.frames, frames);
  });

  test.each(cases.filter((one) => !whole.includes(one)))(
    '$file gives what can be had of it, or is refused',
    async ({ file, frames }) => {
      const found = await read(await readFile(join(FOLDER, file)));
      if (found instanceof RunError) {
        expect(found.code).toBe('unprocessable');
        expect(frames).toEqual([]);
        return;
      }
      // Python ends at the first frame that is broken, and some versions count it.
      expect(found.frames.length).toBeGreaterThanOrEqual(frames.length - 1);
      expect(found.frames.length).toBeLessThanOrEqual(12);
      expectSameFrames(found.frames, frames);
    },
  );

  test('turned videos say so, and their frames are not turned', async () => {
    const [plain, turned] = await Promise.all(
      ['h264.mp4', 'turned-90.mp4'].map(async (name) => readFile(join(FOLDER, name))),
    );
    expect(turned).not.toEqual(plain);
    expect(await read(turned!)).toEqual(await read(plain!));
  });

  test('frames are counted, and their rate is the mean one', async () => {
    const facts = async (name: string) => ((await read(await readFile(join(FOLDER, name)))) as Read).facts;
    expect(await facts('h264.mp4')).toEqual({ width: 48, height: 32, frames: 12, fps: 8, duration: 1.5 });
    const uneven = await facts('uneven.mp4');
    expect(uneven).toMatchObject({ frames: 12 });
    // Three frames in every five eighths of a second.
    expect(uneven.fps).toBeGreaterThan(4);
    expect(uneven.fps).toBeLessThan(6);
    expect((await facts('late.mkv')).frames).toBe(12);
  });

  test('nothing, and what is no video', async () => {
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(1), Buffer.alloc(5000), Buffer.from('GIF89a')])
      expect(await read(bytes)).toMatchObject({ code: 'unprocessable' });
  });

  test('a lie about the length that is longer than the limit is refused by the limit', async () => {
    const file = Buffer.from(await readFile(join(FOLDER, 'h264.mp4')));
    for (const box of ['mvhd', 'mdhd']) file.writeUInt32BE(0x7fffffff, file.indexOf(box) + 4 + 16);
    const found = await read(file);
    if (found instanceof RunError) expect(found.code).toBe('payload_too_large');
    else expect(found.frames).toHaveLength(12);
  });

  test('frames larger than the limit are refused before they are decoded', async () => {
    const file = await readFile(join(FOLDER, 'h264.mp4'));
    const small = {
      limits: { maxPixels: 48 * 32 - 1, maxSeconds: 60 },
      signal: new AbortController().signal,
    };
    const use = async () => {
      throw new Error('was opened');
    };
    await expect(withVideo(file, small, use)).rejects.toMatchObject({
      code: 'payload_too_large',
      message: expect.stringContaining('MAX_PIXELS'),
    });
  });

  describe('files that name others', () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url!);
      response.end();
    });
    beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
    afterAll(() => server.close());

    const [real, address] = [join(FOLDER, 'h264.mp4'), 'http://127.0.0.1:PORT/video.mp4'];
    test.each([
      ['HLS, a file', `#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1.5,\n${real}\n#EXT-X-ENDLIST\n`],
      ['HLS, an address', `#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1.5,\n${address}\n#EXT-X-ENDLIST\n`],
      ['HLS with a key', `#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="${address}"\n#EXTINF:1,\n${real}\n`],
      ['a master playlist', `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n${address}\n`],
      ['concat', `ffconcat version 1.0\nfile '${real}'\n`],
      ['concat, an address', `ffconcat version 1.0\nfile '${address}'\n`],
      [
        'a session description',
        'v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=video PORT RTP/AVP 96\n',
      ],
      [
        'DASH',
        `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><BaseURL>${address}</BaseURL></MPD>`,
      ],
      ['Smooth Streaming', `<SmoothStreamingMedia Url="${address}"/>`],
      ['a path alone', real],
      ['an address alone', address],
      ['an RTSP redirect', 'RTSPtext\nrtsp://127.0.0.1:PORT/video\n'],
    ])('%s: refused, and nothing is read', async (_, text) => {
      const { port } = server.address() as AddressInfo;
      const found = await read(Buffer.from(text.replaceAll('PORT', String(port))));
      expect(found).toMatchObject({ code: 'unprocessable' });
      expect(asked).toEqual([]);
    });

    test('a QuickTime file whose samples are said to be elsewhere reads itself or nothing', async () => {
      const file = Buffer.from(await readFile(join(FOLDER, 'h264.mov')));
      // The name of another file in the place of the flag that says: this one.
      const at = file.indexOf('url ');
      if (at >= 0) file.writeUInt32BE(0, at + 4);
      const found = await read(file);
      if (found instanceof RunError) expect(found.code).toBe('unprocessable');
      else expect(found.frames.length).toBeLessThanOrEqual(12);
      expect(asked).toEqual([]);
    });
  });

  test('a caller who leaves leaves no file', async () => {
    const file = await readFile(join(FOLDER, 'h264.mp4'));
    const caller = new AbortController();
    const work = withVideo(file, { limits, signal: caller.signal }, async (video) => {
      expect(leftovers()).toHaveLength(1);
      await video.frames([0, 5, 11], () => caller.abort(new Error('left')));
    });
    await expect(work).rejects.toThrow('left');
    expect(leftovers()).toEqual([]);
  });
});
