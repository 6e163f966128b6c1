import { audioNetwork } from '../../../../builder/plan/network/audio-steps.js';
import { audioRunBytes } from '../../../../runtime/core/media-run-memory.js';
import { requireRunRoom } from '../../../../runtime/engines/audio/run-room.js';

const bytesOf = (seconds: number) => 100 * seconds;

test('an audio clip whose run takes more than there is room for is refused with what would do', () => {
  requireRunRoom(30, bytesOf, 3000);
  expect(() => requireRunRoom(30.5, bytesOf, 2500)).toThrow(
    expect.objectContaining({
      code: 'payload_too_large',
      message:
        'the audio has 31 s, and there is memory for 25: send a part of it, or give the server more memory',
    }),
  );
});

const SIZES = { hidden_size: 64, intermediate_size: 128, num_attention_heads: 8 };

test.each([
  ['raw samples, as a configuration lists their steps', { conv_stride: [5, 64], conv_dim: [32, 32] }, 320],
  ['pairs of frames of Wav2Vec2-BERT', { model_type: 'wav2vec2-bert' }, 320],
])('%s: memory of a run grows with the square of an audio clip', (_, config, samples) => {
  const of = (steps: number) => audioRunBytes(audioNetwork({ ...SIZES, ...config }), steps * samples);
  // 1.25 x 4 bytes of two tables of scores a head, and of states.
  expect(of(1000)).toBe(5 * 1000 * (3 * 128 + 6 * 64 + 2 * 8 * 1000));
  expect(of(2000)).toBeGreaterThan(3.9 * of(1000));
});

test('images of frames: convolutions count where an audio clip is short, pairs of steps where it is long', () => {
  const encoder = { ...SIZES, subsampling_conv_channels: 16, num_mel_bins: 80, subsampling_factor: 8 };
  const of = (seconds: number) =>
    audioRunBytes(audioNetwork({ model_type: 'parakeet_ctc', encoder_config: encoder }), seconds * 16_000);
  expect(of(1)).toBe(2 * 4 * 50 * 16 * 40);
  const steps = 12_500;
  expect(of(1000)).toBe(5 * steps * (3 * 128 + 6 * 64 + 2 * 8 * 1.75 * steps));
});

test('frames are wide before convolutions make them fewer', () => {
  const network = audioNetwork({ model_type: 'lasr_ctc', encoder_config: { ...SIZES, hidden_size: 512 } });
  expect(audioRunBytes(network, 16_000)).toBe(3 * 4 * 100 * 512);
  const steps = 25_000;
  expect(audioRunBytes(network, 16_000 * 1000)).toBe(5 * steps * (3 * 128 + 6 * 512 + 2 * 8 * steps));
});

test('of spectrograms of one length nothing is to be known', () => {
  expect(audioRunBytes(audioNetwork({ ...SIZES, model_type: 'audio-spectrogram-transformer' }), 16_000)).toBe(
    0,
  );
});
