import {
  createFlatPatchFamily,
  createVideoLlama3Family,
} from '../../../../../../runtime/engines/generation/prompts/media/qwen2-vl.js';
import type { TextTokenizer } from '../../../../../../runtime/engines/tokenizers/tokenizer.js';

const files = (processing: object) => ({
  config: { image_token_id: 7, video_token_id: 8 },
  processing: { ...processing },
  processor: {},
  tokenizer: { tokenOf: (id: number) => `<${id}>`, config: {} } as unknown as TextTokenizer,
});

test('features stand on one axis, and no text may hold a video', () => {
  const family = createFlatPatchFamily(files({}));
  expect(family.positions).toBeUndefined();
  expect(family.foreign).toEqual(['<8>']);
  expect(family.layout({ height: 280, width: 560 })).toMatchObject({ count: 200, patches: 800 });
});

test('VideoLLaMA 3 has a feature for each patch', () => {
  const { layout } = createVideoLlama3Family(files({}));
  expect(layout({ height: 280, width: 560 })).toMatchObject({ count: 800, patches: 800 });
});

test.each([{ merge_size: 2 }, { temporal_patch_size: 2 }])('%j is refused', (processing) => {
  expect(() => createVideoLlama3Family(files(processing))).toThrow('merge_size');
});
