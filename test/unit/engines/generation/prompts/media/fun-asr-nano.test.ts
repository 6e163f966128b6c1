import type { FamilyFiles } from '../../../../../../runtime/engines/generation/prompts/media/family.js';
import { createFunAsrNanoFamily } from '../../../../../../runtime/engines/generation/prompts/media/fun-asr-nano.js';

const files = (processing: object = {}, config: object = {}): FamilyFiles => ({
  config: { ...config },
  processing: { ...processing },
  processor: {},
  tokenizer: { idOf: () => 5, tokenOf: () => '<|audio|>' } as unknown as FamilyFiles['tokenizer'],
});
const SECOND = 16_000;

/** Kaldi's frames of 25 ms each 10 ms, six of them to a step (_apply_lfr). */
test.each([
  [400, 1],
  [400 + 5 * 160, 1],
  [400 + 6 * 160, 2],
  [SECOND, 17],
])('%i samples become %i steps', async (samples, count) => {
  const family = createFunAsrNanoFamily(files());
  expect(family.layout(samples)).toEqual({ count, patches: count });
  const [run] = await family.prepare(new Float32Array(samples).fill(0.1), AbortSignal.timeout(60_000));
  expect(run!()['input_features']!.dims).toEqual([1, count, 560]);
});

test('clips without a frame or with too many steps, and two clips in a conversation, are refused', () => {
  const { layout, expand } = createFunAsrNanoFamily(
    files({}, { audio_config: { max_position_embeddings: 18 } }),
  );
  expect(layout(SECOND).count).toBe(17);
  expect(() => layout(SECOND + 960)).toThrow('positions for 17');
  expect(() => layout(399)).toThrow('shorter than a frame');
  const one = { count: 2, patches: 1 };
  expect(expand(one, [one])).toBe('<|audio|><|audio|>');
  expect(() => expand(one, [one, one])).toThrow('one audio clip');
});

test.each([
  ['another window', { window: 'povey' }, {}],
  ['another rate', { sampling_rate: 8000 }, {}],
  ['other frames', { frame_shift: 12 }, {}],
  ['steps of other numbers', { num_frames_lfr: 5 }, {}],
  ['another token of audio', {}, { audio_token_id: 6 }],
])('%s: refused', (_, processing, config) => {
  expect(() => createFunAsrNanoFamily(files(processing, config))).toThrow(
    /not known|are of other|not the token/,
  );
});
