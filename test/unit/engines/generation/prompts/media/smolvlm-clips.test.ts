import { createSmolVlmClips } from '../../../../../../runtime/engines/generation/prompts/media/smolvlm-clips.js';
import type { ClipFiles } from '../../../../../../runtime/engines/generation/prompts/media/family.js';

const files = (video: object): ClipFiles => ({
  config: { model_type: 'smolvlm', image_token_id: 7, vision_config: { patch_size: 8 } },
  processing: { max_image_size: { longest_edge: 16 } },
  processor: { image_seq_len: 1 },
  video: { max_image_size: { longest_edge: 16 }, ...video },
  tokenizer: { config: {}, tokenOf: () => '<image>', idOf: () => 7 } as unknown as ClipFiles['tokenizer'],
});
const clips = createSmolVlmClips(
  files({ video_sampling: { fps: 1, max_frames: 64, video_size: { longest_edge: 16 } }, fps: 9 }),
);
const video = (frames: number, fps: number) => ({
  width: 64,
  height: 48,
  frames,
  fps,
  duration: frames / fps,
});

/** Numbers of SmolVLMVideoProcessor.sample_frames. */
test.each([
  [video(24, 12), { fps: 2, num_frames: 6 }, [0, 7, 15, 23]],
  [video(5, 10), {}, [0]],
  [video(25, 10), {}, [0, 24]],
  [video(30, 10), { fps: 30, num_frames: 40 }, [...Array(30).keys()]],
  [video(100, 10), { fps: 1, num_frames: 3 }, [10, 50, 90]],
])('frames of %j, as %j asks', (facts, sampling, numbers) => {
  expect(clips.choose(facts, sampling).numbers).toEqual(numbers);
});

test('each frame stands behind its time, and the introduction counts those of the longest clip', () => {
  const { layout } = clips.choose(video(7500, 1), { num_frames: 2 });
  const { layout: other } = clips.choose(video(250, 10), {});
  const image = '<fake_token_around_image><global-img><image><fake_token_around_image>';
  expect(layout.count).toBe(2);
  expect(clips.expand(layout, [layout, other])).toBe(
    'You are provided the following series of twenty-five frames from a 2:05:00 [H:MM:SS] video.\n' +
      `\nFrame from 00:01:${image}\nFrame from 124:59:${image}\n\n`,
  );
});

test.each([
  [files({}), video(10, 5), /params.num_frames: the model names none/],
  [files({ num_frames: 3, fps: 1 }), video(10, 0), /how many frames a second/],
])('what can not be chosen is refused', (given, facts, message) => {
  expect(() => createSmolVlmClips(given).choose(facts, {})).toThrow(message);
});
