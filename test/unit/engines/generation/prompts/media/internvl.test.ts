import type { ClipFiles } from '../../../../../../runtime/engines/generation/prompts/media/family.js';
import {
  createInternVlClips,
  createInternVlFamily,
} from '../../../../../../runtime/engines/generation/prompts/media/internvl.js';

const files = (video: object = {}): ClipFiles => ({
  config: { image_token_id: 8, vision_config: { image_size: [16, 16], patch_size: [4, 4] } },
  processing: { size: { height: 16, width: 16 } },
  processor: { image_seq_length: 4 },
  video: { size: { height: 16, width: 16 }, ...video },
  tokenizer: {
    tokenOf: () => '@',
    config: { start_image_token: '<i>' },
  } as unknown as ClipFiles['tokenizer'],
});
const video = (frames: number, fps: number) => ({
  width: 32,
  height: 16,
  frames,
  fps,
  duration: frames / fps,
});

test('an image has the features of all its tiles between two marks', () => {
  const family = createInternVlFamily(files());
  expect(family.layout({ width: 130, height: 30 })).toEqual({ patches: 17, count: 20 });
  expect(family.expand({ patches: 17, count: 4 })).toBe('<i>@@@@</img>');
});

test('frames are numbered from 1', () => {
  const { expand, choose } = createInternVlClips(files());
  expect(expand(choose(video(2, 3), {}).layout)).toBe('Frame1: <i>@@@@</img>\nFrame2: <i>@@@@</img>');
});

/** Numbers of InternVLVideoProcessor.sample_frames. */
test.each([
  [video(3, 3), {}, {}, [0, 1, 2]],
  [video(9, 3), { num_frames: 4 }, {}, [1, 3, 5, 7]],
  [video(9, 3), { fps: 1 }, {}, [1, 4, 7]],
  [video(9, 3), {}, { do_sample_frames: true, num_frames: 3 }, [1, 4, 7]],
  [video(9, 3), { num_frames: 4 }, { initial_shift: false }, [0, 2, 4, 6]],
  [video(9, 3), { num_frames: 4 }, { initial_shift: 2 }, [2, 4, 6, 8]],
])('frames of %j, as %j asks of %j', (facts, sampling, settings, numbers) => {
  expect(createInternVlClips(files(settings)).choose(facts, sampling).numbers).toEqual(numbers);
});
