import type { FamilyFiles } from '../../../../../../runtime/engines/generation/prompts/media/family.js';
import { createGraniteSpeechFamily } from '../../../../../../runtime/engines/generation/prompts/media/granite-speech.js';

const files = (processing: object = {}, config: object = {}): FamilyFiles => ({
  config: { ...config },
  processing: { ...processing },
  processor: {},
  tokenizer: { idOf: () => 5, tokenOf: () => '<|audio|>' } as unknown as FamilyFiles['tokenizer'],
});
const SECOND = 16_000;

/** Two frames of samples // 160 + 1 to a step, 15 steps to three features (_get_num_audio_features). */
test.each([
  [257, 1, 3],
  [15 * 320 - 161, 14, 3],
  [15 * 320, 15, 3],
  [16 * 320, 16, 6],
  [60 * SECOND, 200, 600],
])('%i samples become %i steps at once and %i features', (samples, patches, count) => {
  expect(createGraniteSpeechFamily(files()).layout(samples)).toEqual({ count, patches });
});

test('a clip as long as it is, two frames to a step', async () => {
  const family = createGraniteSpeechFamily(files());
  const [run] = await family.prepare(new Float32Array(SECOND).fill(0.1), AbortSignal.timeout(60_000));
  expect(run!()['input_features']!.dims).toEqual([1, 50, 160]);
});

test('a clip that torch can’t mirror, and two clips in a conversation, are refused', () => {
  const { layout, expand } = createGraniteSpeechFamily(files());
  expect(() => layout(256)).toThrow('too short');
  const one = { count: 2, patches: 1 };
  expect(expand(one, [one])).toBe('<|audio|><|audio|>');
  expect(() => expand(one, [one, one])).toThrow('one audio clip');
});

test.each([
  ['an odd transform', { n_fft: 511 }, {}],
  ['a window of the processor alone', { projector_window_size: 20 }, {}],
  ['a window of the network alone', {}, { window_size: 20 }],
  ['features of the network alone', {}, { downsample_rate: 3 }],
  ['steps of another width', { n_mels: 64 }, {}],
])('%s: refused', (_, processing, config) => {
  expect(() => createGraniteSpeechFamily(files(processing, config))).toThrow('processor_config.json');
});
