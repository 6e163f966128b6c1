import { RunError } from '../core/errors.js';
import { type MediaFile, withMediaFile } from './ffmpeg.js';
import type { Image } from './decoded-image.js';

export interface VideoFacts {
  width: number;
  height: number;
  /** Frames as they are in the file, counted. */
  frames: number;
  /** Frames per second, on average. */
  fps: number;
  /** Seconds. */
  duration: number;
}

export interface VideoLimits {
  /** Most pixels of a frame (MAX_PIXELS). */
  maxPixels: number;
  /** Longest video (MAX_MEDIA_SECONDS). */
  maxSeconds: number;
}

export interface VideoReader {
  facts: VideoFacts;
  /**
   * Frames by their numbers in presentation order, not turned (as PyAV gives them). A video may end before its file says.
   * @param use told of each frame in turn
   * @throws the signal's reason; what `use` throws
   */
  frames(numbers: readonly number[], use: (image: Image) => void | Promise<void>): Promise<void>;
}

/**
 * Opens the first video of a file while `use` works with it.
 * @throws RunError 413 too large or too long, 422 no video; the signal's reason
 */
export function withVideo<T>(
  bytes: Uint8Array,
  { limits, signal }: { limits: VideoLimits; signal: AbortSignal },
  use: (video: VideoReader) => Promise<T>,
): Promise<T> {
  return withMediaFile(bytes, signal, async (file) => {
    const facts = await factsOf(file, signal);
    checkLimits(facts, limits);
    return use({ facts, frames: (numbers, each) => readFrames(file, { facts, numbers, each, signal }) });
  });
}

interface Probed {
  streams?: {
    width?: number;
    height?: number;
    nb_read_packets?: string;
    avg_frame_rate?: string;
    duration?: string;
  }[];
  format?: { duration?: string };
}

const ENTRIES = 'stream=width,height,avg_frame_rate,nb_read_packets,duration:format=duration';

async function factsOf(file: MediaFile, signal: AbortSignal): Promise<VideoFacts> {
  const options = ['-select_streams', 'v:0', '-count_packets', '-show_entries', ENTRIES];
  const { streams, format } = ((await file.probe(options, signal)) ?? {}) as Probed;
  const [stream] = streams ?? [];
  const [width, height] = [stream?.width ?? 0, stream?.height ?? 0];
  const frames = Number(stream?.nb_read_packets ?? 0);
  if (!(width > 0 && height > 0 && frames > 0)) {
    throw new RunError('unprocessable', 'the file has no video that can be decoded');
  }
  const [over = 0, under = 0] = (stream?.avg_frame_rate ?? '').split('/').map(Number);
  const fps = over > 0 && under > 0 ? over / under : 0;
  const said = Number(stream?.duration ?? format?.duration ?? 0);
  const duration = said > 0 ? said : fps > 0 ? frames / fps : 0;
  return { width, height, frames, fps, duration };
}

function checkLimits({ width, height, duration }: VideoFacts, { maxPixels, maxSeconds }: VideoLimits): void {
  if (width * height > maxPixels) {
    throw new RunError(
      'payload_too_large',
      `the video has frames of ${width} x ${height} pixels, more than the limit of ${maxPixels} (MAX_PIXELS)`,
    );
  }
  if (duration > maxSeconds) {
    throw new RunError(
      'payload_too_large',
      `the video is longer than ${maxSeconds} s (MAX_MEDIA_SECONDS); send a part of it`,
    );
  }
}

interface FrameWork {
  facts: VideoFacts;
  numbers: readonly number[];
  each: (image: Image) => void | Promise<void>;
  signal: AbortSignal;
}

const CHANNELS = 3;

/** Numbers in rising order as ranges: all frames of a long video would be a very long condition. */
function rangesOf(numbers: readonly number[]): [from: number, to: number][] {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}

async function readFrames(
  file: MediaFile,
  { facts: { width, height }, numbers, each, signal }: FrameWork,
): Promise<void> {
  const wanted = [...new Set(numbers)].toSorted((a, b) => a - b);
  if (wanted.length === 0) return;
  const select = rangesOf(wanted)
    .map(([from, to]) => `between(n\\,${from}\\,${to})`)
    .join('+');
  const size = width * height * CHANNELS;
  let frame = Buffer.alloc(size);
  let filled = 0;
  await file.run({
    inputOptions: ['-noautorotate'],
    options: [
      ...['-map', '0:v:0', '-vf', `select=${select}`, '-frames:v', String(wanted.length)],
      ...['-fps_mode', 'passthrough', '-s', `${width}x${height}`, '-pix_fmt', 'rgb24', '-f', 'rawvideo'],
    ],
    signal,
    async onData(chunk) {
      for (let at = 0; at < chunk.length;) {
        const copied = chunk.copy(frame, filled, at, at + size - filled);
        at += copied;
        filled += copied;
        if (filled < size) return;
        await each({ data: frame, width, height, channels: CHANNELS });
        frame = Buffer.alloc(size);
        filled = 0;
      }
    },
  });
}
