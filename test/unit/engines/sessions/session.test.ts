import type { InferenceSession } from 'onnxruntime-node';
import { integers } from '../../../../runtime/engines/sessions/tensors.js';

test.each([
  ['int64', BigInt64Array.of(1n, 0n)],
  ['int32', Int32Array.of(1, 0)],
  ['float32', Float32Array.of(1, 0)],
  ['bool', Uint8Array.of(1, 0)],
])('a mask in the type that the graph declares: %s', (type, data) => {
  const session = { inputMetadata: [{ name: 'mask', isTensor: true, type, shape: [] }] };
  const tensor = integers(session as unknown as InferenceSession, 'mask', BigInt64Array.of(1n, 0n), [1, 2]);
  expect([tensor.type, tensor.data, tensor.dims]).toEqual([type, data, [1, 2]]);
});
