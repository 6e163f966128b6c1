import type { ClipFiles } from '../../../../../../runtime/engines/generation/prompts/media/family.js';
import { createQwen3VlClips } from '../../../../../../runtime/engines/generation/prompts/media/qwen3-vl-clips.js';

const clipsOf = (settings: object = {}) =>
  createQwen3VlClips({
    config: { model_type: 'qwen3_vl', video_token_id: 8 },
    processing: {},
    processor: {},
    video: { patch_size: 4, size: { shortest_edge: 64, longest_edge: 4096 }, ...settings },
    tokenizer: { tokenOf: () => '@', config: {} } as unknown as ClipFiles['tokenizer'],
  });
const video = (frames: number, fps: number, width = 32, height = 16) => ({
  ...{ width, height, frames, fps, duration: frames / fps },
});

/** Numbers of Qwen3VLVideoProcessor.sample_frames. */
test.each([
  [video(9, 3), {}, {}, [0, 2, 3, 5, 6, 8]],
  [video(60, 10), {}, {}, [0, 5, 11, 16, 21, 27, 32, 38, 43, 48, 54, 59]],
  [video(60, 10), {}, { max_frames: 7 }, [0, 10, 20, 30, 39, 49, 59]],
  [video(9, 3), { num_frames: 5 }, {}, [0, 2, 4, 6, 8]],
  [video(9, 3), { fps: 1 }, {}, [0, 3, 5, 8]],
  [video(3, 30), {}, {}, [0, 1, 2]],
  [video(5, 30), {}, { do_sample_frames: false }, [0, 1, 2, 3, 4]],
])('frames of %j, as %j asks of %j', (facts, sampling, settings, numbers) => {
  expect(clipsOf(settings).choose(facts, sampling).numbers).toEqual(numbers);
});

test.each([
  [video(9, 3), { num_frames: 4, fps: 1 }, /not both/],
  [video(9, 3), { num_frames: 12 }, /12 frames can't be chosen of the video's 9/],
  [video(9, 0), {}, /how many frames a second/],
  [video(1, 3), {}, /wants at least 2/],
  [video(9, 3, 32, 7), {}, /less than 8 pixels/],
])('%j with %j is refused', (facts, sampling, message) => {
  expect(() => clipsOf().choose(facts, sampling)).toThrow(message);
});

/** Numbers of smart_resize: all frames together keep to the limits. */
test('the more frames are read, the smaller they are', () => {
  const gridOf = (num_frames: number) => clipsOf().choose(video(99, 3), { num_frames }).layout.grid;
  expect([gridOf(8), gridOf(9), gridOf(10), gridOf(20)]).toEqual([
    [4, 2, 4],
    // Nine frames are rounded to eight.
    [5, 2, 4],
    [5, 1, 3],
    [10, 1, 2],
  ]);
});

test('pairs of frames stand behind the time between them, quarters rounded to even tenths', () => {
  const family = clipsOf();
  const { layout } = family.choose(video(5, 2), { num_frames: 5 });
  const marked = `<|vision_start|>${'@'.repeat(8)}<|vision_end|>`;
  expect(family.expand(layout)).toBe(`<0.2 seconds>${marked}<1.2 seconds>${marked}<2.0 seconds>${marked}`);
  expect(family.surrounded).toBe('<|vision_start|>@<|vision_end|>');
});

test('each pair is a run, the last frame is paired with itself', () => {
  const family = clipsOf();
  const clip = family.collect(family.choose(video(3, 2), { num_frames: 3 }).layout);
  const frame = { data: new Uint8Array(32 * 16 * 3).fill(9), width: 32, height: 16, channels: 3 };
  expect(clip.add(frame)).toEqual([]);
  const runs = [...clip.add(frame), ...clip.add(frame), ...clip.end()];
  expect(runs.map((run) => run()['pixel_values']!.dims)).toEqual([
    [32, 96],
    [32, 96],
  ]);
  expect(runs[1]!()['image_grid_thw']!.data).toEqual(BigInt64Array.of(1n, 4n, 8n));
});
