import type { InferenceSession } from 'onnxruntime-node';
import {
  cacheInputBytesPerToken,
  cacheInputsOf,
} from '../../../../../runtime/engines/generation/decoding/single/cache-inputs.js';

const sessionOf = (inputs: Record<string, readonly (number | string)[]>) =>
  ({
    inputNames: Object.keys(inputs),
    outputNames: Object.keys(inputs).map((name) =>
      name.replace('past_key_values', 'present').replace(/^past_/, 'present_'),
    ),
    inputMetadata: Object.entries(inputs).map(([name, shape]) => ({
      ...{ name, shape, isTensor: true, type: 'float32' },
    })),
  }) as unknown as InferenceSession;

test('keys, values and keys of an index begin without tokens, states as zeros of their size', () => {
  const caches = cacheInputsOf(
    sessionOf({
      'past_key_values.0.key': ['rows', 2, 'past', 8],
      'past_index.0': ['rows', 'past', 16],
      'past_conv0.1': ['rows', 64, 4],
    }),
    {},
  );
  expect(caches.map(({ dims }) => dims)).toEqual([
    [1, 2, 0, 8],
    [1, 0, 16],
    [1, 64, 4],
  ]);
  expect(cacheInputBytesPerToken(caches)).toBe(4 * (2 * 8 + 16));
});

test('a state whose size the graph does not say is refused', () =>
  expect(() => cacheInputsOf(sessionOf({ 'past_conv0.1': ['rows', 'wide', 4] }), {})).toThrow(
    "doesn't say how large its cache input past_conv0.1 is",
  ));
