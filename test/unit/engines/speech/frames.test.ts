import { fewestFrames, framesOf, requireFrames } from '../../../../runtime/engines/speech/musicgen/frames.js';

test('frames are those of Python: more tokens give fewer once codebooks are delayed', () => {
  // MusicgenForConditionalGeneration.generate of transformers 4.57.6 with 4 codebooks, samples / 320.
  const python = [1, 2, 3, 4, 5, 3, 4, 5];
  expect(python.map((_, i) => framesOf(i + 1, 4))).toEqual(python);
});

test('exports mirror edges that short audio lacks', () => {
  expect(fewestFrames({ kernel_size: 7, use_causal_conv: false, pad_mode: 'reflect' })).toBe(4);
  expect(fewestFrames({})).toBe(7);
  expect(fewestFrames({ pad_mode: 'constant' })).toBe(1);
});

test('what is too short is refused by name, with the least that is enough', () => {
  const limits = { codebooks: 4, fewest: 4 };
  for (const tokens of [4, 5, 7, 8]) expect(() => requireFrames(tokens, limits)).not.toThrow();
  expect(() => requireFrames(1, limits)).toThrow(
    /^params\.max_new_tokens: 1 gives 1 frames of audio, .* fewer than 4: ask for 4$/,
  );
  expect(() => requireFrames(6, limits)).toThrow(/6 gives 3 frames of audio, .*: ask for 7$/);
});
