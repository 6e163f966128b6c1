import { roundHalfEven } from '../../../../core/round-half-even.js';
import { RunError } from '../../../../core/errors.js';
import type { VideoFacts } from '../../../../media/video.js';
import { createFrameProcessor } from '../../../processors/image/idefics3.js';
import { evenly } from '../../../processors/video/evenly.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { ClipFamily, ClipFiles, MediumLayout } from './family.js';
import { createSmolVlmFamily, namedMarks } from './idefics3.js';
import { numberWords } from './number-words.js';

/** SmolVLMProcessor's, whatever the repository has. */
const TEMPLATE =
  "<|im_start|>{% for message in messages %}{{message['role'] | capitalize}}{% if message['content'][0]['type'] == 'image' %}{{':'}}{% else %}{{': '}}{% endif %}{% for line in message['content'] %}{% if line['type'] == 'text' %}{{line['text']}}{% elif line['type'] == 'image' %}{{ '<image>' }}{% elif line['type'] == 'video' %}{{ '<video>' }}{% endif %}{% endfor %}<end_of_utterance>\n{% endfor %}{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}";

/** SmolVLM: frames of a clip are small images, each behind the time at which it stands. */
export function createSmolVlmClips(files: ClipFiles): ClipFamily {
  const images = createSmolVlmFamily(files);
  const frames = createFrameProcessor(files.video);
  const { each } = images;
  const marks = namedMarks(files.tokenizer.config);
  const image = `${marks.around}${marks.whole}${images.placeholder.repeat(each)}${marks.around}`;
  const usual = usualSampling(files.video);
  return {
    ...{ placeholder: '<video>', tokenId: images.tokenId, mostPatches: images.mostPatches },
    ...{ template: TEMPLATE, alone: true },
    choose(video, { num_frames, fps }) {
      const numbers = frameNumbers(video, {
        most: num_frames ?? usual.most ?? unknown('num_frames'),
        fps: fps ?? usual.fps ?? unknown('fps'),
      });
      const clip = { seconds: video.frames / video.fps, frames: numbers.map((number) => number / video.fps) };
      return { numbers, layout: { count: numbers.length * each, patches: images.mostPatches, clip } };
    },
    collect: () => ({
      add: (frame) => [() => images.inputs(frames.process(frame))],
      end: () => [],
    }),
    expand(layout, all = [layout]) {
      const most = Math.max(...all.map(({ clip }) => clip!.frames.length));
      return introduced(layout.clip!, most, image);
    },
  };
}

/** What `video_sampling` says replaces what stands beside it. */
function usualSampling(video: Json): { most: number | undefined; fps: number | undefined } {
  const sampling = (video['video_sampling'] ?? {}) as Json;
  return {
    most: firstNumber(sampling, 'max_frames') ?? firstNumber(video, 'num_frames'),
    fps: firstNumber(sampling, 'fps') ?? firstNumber(video, 'fps'),
  };
}

function unknown(name: string): never {
  throw new RunError('unprocessable', `params.${name}: the model names none`);
}

/** Seconds at both ends of a long clip that are left out. */
const SKIPPED = 1;

/** SmolVLMVideoProcessor.sample_frames. */
function frameNumbers(
  { frames, fps }: Pick<VideoFacts, 'frames' | 'fps'>,
  asked: { most: number; fps: number },
): number[] {
  if (fps <= 0) throw new RunError('unprocessable', 'the video does not say how many frames a second has');
  const seconds = frames / fps;
  const count = Math.max(1, Math.min(roundHalfEven(asked.fps * seconds), asked.most));
  const last = frames - 1;
  let [from, to] = [0, last];
  // Frames times frames a second, as in Python.
  if (seconds - 2 * SKIPPED > asked.most * asked.fps) {
    [from, to] = [Math.trunc(SKIPPED * fps), Math.min(last, Math.trunc(frames - SKIPPED * fps))];
  }
  if (from >= to) [from, to] = [0, last];
  return [...new Set(evenly(from, to, count))];
}

/** SmolVLMProcessor.expand_text_with_video_tokens. */
function introduced(
  { seconds, frames }: NonNullable<MediumLayout['clip']>,
  most: number,
  image: string,
): string {
  const rows = frames.map((at) => {
    const [minutes, rest] = [Math.floor(at / 60), Math.floor(at % 60)];
    return `\nFrame from ${twoDigits(minutes)}:${twoDigits(rest)}:${image}`;
  });
  const intro = `You are provided the following series of ${numberWords(most)} frames from a ${clock(seconds)} [H:MM:SS] video.\n`;
  return `${intro}${rows.join('')}\n\n`;
}

const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** As Python writes a timedelta. */
function clock(seconds: number): string {
  const whole = Math.trunc(seconds);
  const [days, hours] = [Math.floor(whole / 86_400), Math.floor(whole / 3600) % 24];
  const time = `${hours}:${twoDigits(Math.floor(whole / 60) % 60)}:${twoDigits(whole % 60)}`;
  return days > 0 ? `${days} day${days === 1 ? '' : 's'}, ${time}` : time;
}
