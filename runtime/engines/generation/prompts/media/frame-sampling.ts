import { RunError } from '../../../../core/errors.js';
import type { FrameSampling } from '../../../../core/handles/index.js';
import type { VideoFacts } from '../../../../media/video.js';

/** What Python's video processors refuse of a choice of frames, in words. */

/** @throws RunError 422 where a number of frames and a rate are asked for */
export function refuseBoth({ num_frames, fps }: FrameSampling): void {
  if (num_frames != null && fps != null)
    throw new RunError(
      'unprocessable',
      'params.fps: this model takes params.num_frames or params.fps, not both',
    );
}

/** Frames a second of the video. @throws RunError 422 where it does not say */
export function rateOf({ fps }: Pick<VideoFacts, 'fps'>): number {
  if (fps > 0) return fps;
  throw new RunError('unprocessable', 'the video does not say how many frames a second has');
}

/** @returns count @throws RunError 422 where there are not so many */
export function countWithin(count: number, total: number): number {
  if (count > 0 && count <= total) return count;
  throw new RunError('unprocessable', `${count} frames can't be chosen of the video's ${total}`);
}

/** Numbers of all frames. */
export const allFrames = (total: number): number[] => Array.from({ length: total }, (_, i) => i);
