import type { InferenceSession } from 'onnxruntime-node';
import ort from 'onnxruntime-node';
import { startSingleDecoding } from '../../../../../../runtime/engines/generation/decoding/single/single-decoding.js';

/** A graph that finds the token after the last one likeliest, and notes what it is fed. */
function counting() {
  const fed: number[][] = [];
  const session = {
    inputNames: ['input_ids'],
    outputNames: ['logits'],
    inputMetadata: [{ name: 'input_ids', isTensor: true, type: 'int64', shape: ['rows', 'tokens'] }],
    async run({ input_ids }: Record<string, ort.Tensor>) {
      const ids = Array.from(input_ids!.data as BigInt64Array, Number);
      fed.push(ids);
      const scores = ids.flatMap((id) => Array.from({ length: 16 }, (_, i) => (i === id + 1 ? 1 : 0)));
      return { logits: new ort.Tensor('float32', Float32Array.from(scores), [...input_ids!.dims, 16]) };
    },
  } as unknown as InferenceSession;
  return { fed, graph: { session, caches: [], ropeSwitchLength: Infinity } };
}

test('feeds the prompt in chunks and then one token at a time', async () => {
  const { fed, graph } = counting();
  const decoding = startSingleDecoding(graph, { chunk: 2, signal: new AbortController().signal });
  const scores = await decoding.prefill({ tokens: [3, 4, 5] });
  expect(scores.indexOf(1)).toBe(6);
  decoding.reorder([0, 0]);
  await decoding.step([6, 7]);
  expect(fed).toEqual([[3, 4], [5], [6, 7]]);
});

test('a prompt ends within a chunk when its caller leaves', async () => {
  const { fed, graph } = counting();
  const caller = new AbortController();
  const decoding = startSingleDecoding(graph, { chunk: 2, signal: caller.signal });
  const scores = decoding.prefill({ tokens: [3, 4, 5, 6, 7] });
  caller.abort();
  await expect(scores).rejects.toThrow('aborted');
  expect(fed).toEqual([[3, 4]]);
});
