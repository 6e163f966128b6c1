import type { ClipFiles } from '../../../../../../runtime/engines/generation/prompts/media/family.js';
import { ropePositions } from '../../../../../../runtime/engines/generation/prompts/media/qwen2-vl.js';
import {
  createQwen25VlClips,
  createQwen2VlClips,
} from '../../../../../../runtime/engines/generation/prompts/media/qwen2-vl-clips.js';

const clipsOf = (video: object = {}, create = createQwen2VlClips) =>
  create({
    config: { video_token_id: 8 },
    processing: {},
    processor: {},
    video: { patch_size: 4, min_pixels: 64, max_pixels: 1024, ...video },
    tokenizer: { tokenOf: () => '<video>' } as unknown as ClipFiles['tokenizer'],
  });
const video = (frames: number, fps: number) => ({
  width: 32,
  height: 16,
  frames,
  fps,
  duration: frames / fps,
});

/** Numbers of Qwen2VLVideoProcessor.sample_frames. */
test.each([
  [video(5, 5), {}, {}, [0, 1, 2, 3, 4]],
  [video(9, 3), { num_frames: 5 }, {}, [0, 2, 4, 6]],
  [video(9, 3), { fps: 1 }, {}, [0, 2, 4, 6]],
  [video(60, 10), {}, { do_sample_frames: true, fps: 1 }, [0, 10, 20, 30, 40, 50]],
  [video(60, 10), {}, { fps: 1 }, [...Array(60).keys()]],
  [video(60, 10), { fps: 5 }, { max_frames: 7 }, [0, 10, 20, 30, 40, 50]],
])('frames of %j, as %j asks of %j', (facts, sampling, settings, numbers) => {
  expect(clipsOf(settings).choose(facts, sampling).numbers).toEqual(numbers);
});

test.each([
  [{ num_frames: 4, fps: 1 }, /not both/],
  [{ num_frames: 1 }, /0 frames/],
  [{ num_frames: 12 }, /12 frames can't be chosen of the video's 9/],
])('%j is refused', (sampling, message) => {
  expect(() => clipsOf().choose(video(9, 3), sampling)).toThrow(message);
});

test('an odd frame is paired with itself; only the newer family counts seconds', () => {
  const { layout } = clipsOf().choose(video(5, 5), {});
  expect(layout).toEqual({ patches: 96, count: 24, grid: [3, 2, 4], timeStep: 1 });
  const stepOf = (fps?: number) =>
    clipsOf({}, createQwen25VlClips).choose(video(9, 3), { fps }).layout.timeStep;
  expect([stepOf(), stepOf(1), stepOf(4)]).toEqual([4, 8, 0]);
});

test('the run of a clip holds all its patches', () => {
  const clip = clipsOf().collect(clipsOf().choose(video(3, 3), {}).layout);
  const frame = { data: new Uint8Array(32 * 16 * 3).fill(9), width: 32, height: 16, channels: 3 };
  for (let i = 0; i < 3; i++) expect(clip.add(frame)).toEqual([]);
  const [run] = clip.end();
  const { pixel_values, grid_thw } = run!();
  expect(pixel_values!.dims).toEqual([64, 96]);
  expect([...(grid_thw!.data as BigInt64Array)]).toEqual([2n, 4n, 8n]);
});

/** Numbers of Qwen2.5-VL's get_rope_index for a clip of 3 x 1 x 2 features, 4 positions a step. */
test('steps over time stand as far apart as their seconds', () => {
  const { axes, shift } = ropePositions(9, [{ start: 1, grid: [3, 1, 2], timeStep: 4 }]);
  expect(axes).toEqual([
    [0, 1, 1, 5, 5, 9, 9, 10, 11],
    [0, 1, 1, 1, 1, 1, 1, 10, 11],
    [0, 1, 2, 1, 2, 1, 2, 10, 11],
  ]);
  expect(shift).toBe(3);
});
