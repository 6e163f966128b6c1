import { createFeatureExtractor } from '../../../../../runtime/engines/processors/audio/feature-extractor.js';

const never = new AbortController().signal;

test.each([true, false])(
  'pieces of an audio clip do not share their memory (do_normalize %s)',
  async (do_normalize) => {
    const { extract } = createFeatureExtractor({ do_normalize });
    const whole = Float32Array.from({ length: 100 }, (_, i) => Math.sin(i));
    const piece = whole.subarray(10, 60);
    const { values, dims, mask } = await extract(piece, never);
    expect(values.buffer).not.toBe(whole.buffer);
    expect(values.buffer.byteLength).toBe(50 * 4);
    expect([dims, mask]).toEqual([[1, 50], { length: 50, content: 50 }]);
    if (!do_normalize) expect(values).toEqual(piece);
  },
);

test('a class that is not known is refused by name', () => {
  expect(() => createFeatureExtractor({ feature_extractor_type: 'ClapFeatureExtractor' })).toThrow(
    /feature extractor ClapFeatureExtractor is not supported; supported: Wav2Vec2/,
  );
});
