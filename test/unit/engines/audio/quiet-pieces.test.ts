import { quietPieces } from '../../../../runtime/engines/audio/quiet-pieces.js';

const RATE = 1000;
const SETTINGS = {
  max_audio_clip_s: 2,
  overlap_chunk_second: 1,
  min_energy_window_samples: 100,
  hop_length: 10,
};

/** As loud everywhere, but for a few samples. */
function clip(length: number, quiet: readonly number[]): Float32Array {
  const samples = new Float32Array(length).fill(0.5);
  for (const at of quiet) samples.fill(0.01, at, at + 100);
  return samples;
}

const lengths = (pieces: Float32Array[]) => pieces.map(({ length }) => length);

test('short audio is one piece', () => {
  expect(lengths(quietPieces(SETTINGS, RATE)(clip(1000, [])))).toEqual([1000]);
});

test('long audio is cut before the quietest window of the last second of a piece', () => {
  expect(lengths(quietPieces(SETTINGS, RATE)(clip(4000, [1300, 2800])))).toEqual([1300, 1500, 1200]);
});

test('the last window of a piece is not looked at, as in Python', () => {
  expect(lengths(quietPieces(SETTINGS, RATE)(clip(3000, [1900])))).toEqual([1000, 2000]);
});

test('a rest without two frames is left', () => {
  const settings = { ...SETTINGS, min_energy_window_samples: 16, hop_length: 20 };
  expect(lengths(quietPieces(settings, RATE)(clip(2001, [1976])))).toEqual([1976]);
});

test('with room for one window only a piece ends in the middle', () => {
  const settings = { ...SETTINGS, min_energy_window_samples: 1000 };
  expect(lengths(quietPieces(settings, RATE)(clip(3000, [])))).toEqual([1500, 1500]);
});

test.each([
  { max_audio_clip_s: 0 },
  { max_audio_clip_s: 3, overlap_chunk_second: 2 },
  { min_energy_window_samples: 0.5 },
  { max_audio_clip_s: '35' },
])('%j is refused', (settings) => {
  expect(() => quietPieces(settings, RATE)).toThrow(/max_audio_clip_s|min_energy_window_samples/);
});
