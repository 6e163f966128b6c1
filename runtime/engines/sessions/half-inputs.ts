import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { bitsOf } from '../../core/half.js';

/**
 * Lets a session take half precision whatever Node.js runs it. From version 24 on ONNX Runtime's JavaScript keeps it as a
 * Float16Array, which its native side takes for empty ("not enough space: expected 576, got 0"); bits it takes anywhere.
 */
export function acceptHalfInputs(session: InferenceSession): InferenceSession {
  if (!session.inputMetadata.some((input) => input.isTensor && input.type === 'float16')) return session;
  const run = session.run.bind(session) as (
    feeds: Feeds,
    ...rest: unknown[]
  ) => ReturnType<typeof session.run>;
  session.run = (feeds: Feeds, ...rest: unknown[]) => run(withBits(feeds), ...rest);
  return session;
}

type Feeds = InferenceSession.OnnxValueMapType;

function withBits(feeds: Feeds): Feeds {
  return Object.fromEntries(Object.entries(feeds).map(([name, value]) => [name, asBits(value)]));
}

/** The same numbers, not copied. */
function asBits(tensor: Tensor): Tensor {
  if (tensor.type !== 'float16' || tensor.data instanceof Uint16Array) return tensor;
  const bits = new ort.Tensor('uint16', bitsOf(tensor.data as unknown as Uint16Array), tensor.dims);
  return Object.assign(bits, { type: 'float16' as const });
}
