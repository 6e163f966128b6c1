import { RunError } from '../../../../core/errors.js';
import type { FrameSampling } from '../../../../core/handles/index.js';
import type { VideoFacts } from '../../../../media/video.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';

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

/**
 * How many frames BaseVideoProcessor.sample_frames chooses: as asked, or as video_preprocessor_config.json says; undefined for all.
 * @throws RunError 422 as above
 */
export function chosenCount(facts: VideoFacts, asked: FrameSampling, video: Json): number | undefined {
  refuseBoth(asked);
  const isAsked = (asked.num_frames ?? asked.fps) != null;
  const usual = (name: string) =>
    !isAsked && video['do_sample_frames'] === true ? firstNumber(video, name) : undefined;
  const [most, rate] = [asked.num_frames ?? usual('num_frames'), asked.fps ?? usual('fps')];
  if (most === undefined && rate === undefined) return undefined;
  return countWithin(most ?? Math.trunc((facts.frames / rateOf(facts)) * rate!), facts.frames);
}
