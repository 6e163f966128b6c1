import type { FamilyFiles } from '../../../../../../runtime/engines/generation/prompts/media/family.js';
import { createQwen2AudioFamily } from '../../../../../../runtime/engines/generation/prompts/media/qwen2-audio.js';
import { createUltravoxFamily } from '../../../../../../runtime/engines/generation/prompts/media/ultravox.js';
import { createVoxtralFamily } from '../../../../../../runtime/engines/generation/prompts/media/voxtral.js';

const files = (known = true): FamilyFiles => ({
  config: {},
  processing: { feature_size: 2 },
  processor: {},
  tokenizer: {
    idOf: () => (known ? 5 : undefined),
    tokenOf: () => '<audio>',
  } as unknown as FamilyFiles['tokenizer'],
});
const SECOND = 16_000;

test.each([
  [1, 375],
  [30 * SECOND, 375],
  [30 * SECOND + 1, 750],
])('Voxtral: %i samples fill whole windows with %i features', async (samples, count) => {
  const family = createVoxtralFamily(files());
  expect(family.layout(samples)).toEqual({ count, patches: 1500 });
  expect(family.expand({ count: 2, patches: 1 })).toBe('[BEGIN_AUDIO]<audio><audio>');
});

test('a window of Voxtral has its part of the spectrogram, and memory of its own', async () => {
  const runs = await createVoxtralFamily(files()).prepare(
    new Float32Array(30 * SECOND + 9).fill(0.1),
    AbortSignal.timeout(60_000),
  );
  const tensors = runs.map((run) => run()['audio_values']!);
  expect(tensors.map(({ dims }) => dims)).toEqual([
    [1, 2, 3000],
    [1, 2, 3000],
  ]);
  const [first, second] = tensors.map(({ data }) => data as Float32Array);
  expect(first!.buffer).not.toBe(second!.buffer);
  expect(first![1500]).not.toBe(second![1500]);
});

/** 1 + ceil(round(samples / 320 + 1e-4) / 8) */
test.each([
  [160, 2],
  [2559, 2],
  [2560, 2],
  [2719, 2],
  [2720, 3],
  [30 * SECOND, 189],
])('Ultravox: %i samples become %i features', (samples, count) => {
  expect(createUltravoxFamily(files()).layout(samples).count).toBe(count);
});

test('what Ultravox does not hear is refused', () => {
  const { layout } = createUltravoxFamily(files());
  expect(() => layout(30 * SECOND + 1)).toThrow('longer than the 30 s');
  expect(() => layout(159)).toThrow('too short');
});

test('a tokenizer without a token of audio is refused', () => {
  expect(() => createVoxtralFamily(files(false))).toThrow('no token of audio ([AUDIO], audio_token_id)');
});

/** Steps are (frames - 1) // 2 + 1, features (steps - 2) // 2 + 1; WhisperFeatureExtractor cuts at 30 s. */
test.each([
  [2 * 160 + 1, 2, 1],
  [4000, 13, 6],
  [9280, 29, 14],
  [30 * SECOND, 1500, 750],
  [31 * SECOND, 1500, 750],
])('Qwen2-Audio: %i samples are %i steps and %i features', async (samples, patches, count) => {
  const { layout, prepare } = createQwen2AudioFamily(files());
  expect(layout(samples)).toEqual({ patches, count });
  const [run] = await prepare(new Float32Array(samples).fill(0.1), AbortSignal.timeout(60_000));
  expect(run!()['input_features']!.dims).toEqual([1, 2, 3000]);
  expect(run!()['step_count']!.data).toEqual(BigInt64Array.of(BigInt(patches)));
});

test('Qwen2-Audio marks an audio clip at both ends, and hears none without a pair of steps', () => {
  const { layout, expand } = createQwen2AudioFamily(files());
  expect(expand({ count: 2, patches: 4 })).toBe('<|audio_bos|><audio><audio><|audio_eos|>');
  expect(() => layout(320)).toThrow('too short');
});

test('Qwen2-Audio reads audio where its processor writes them', () => {
  expect(() => createQwen2AudioFamily({ ...files(), config: { audio_token_index: 5 } })).not.toThrow();
  expect(() => createQwen2AudioFamily({ ...files(), config: { audio_token_index: 6 } })).toThrow(
    'audio_token_index is not the token <|AUDIO|> (5)',
  );
});
