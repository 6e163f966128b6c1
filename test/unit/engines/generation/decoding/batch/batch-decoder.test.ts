import { createBatchDecoder } from '../../../../../../runtime/engines/generation/decoding/batch/batch-decoder.js';
import type { StepSession } from '../../../../../../runtime/engines/generation/decoding/batch/step-session.js';

/** A session of one layer that notes the tokens of each run; its scores say nothing. */
function counting() {
  const runs: string[] = [];
  const layout = {
    ports: [{ past: 'past', present: 'present', heads: 1, width: 1 }],
    type: 'float32' as const,
  };
  const output = (rows: number, tokens: number) => ({
    scores: Array.from({ length: rows }, () => new Float32Array(8)),
    ...{ tokens, newEntries: [new Float32Array(rows * tokens)], newStates: [] },
  });
  const session: StepSession = {
    layout,
    async prefill({ tokens }, count, { length }) {
      runs.push(`prompt ${tokens.slice(length, length + count).join()}`);
      return output(1, count);
    },
    embed: undefined,
    async step({ ids }, { rows }) {
      runs.push(`step ${ids.join()}`);
      return output(rows.length, 1);
    },
  };
  const decoder = createBatchDecoder({
    ...{ session, sharesRuns: true, chunkedPrefill: true, chunk: 256 },
    ...{ inputNames: [], maxPositions: Infinity, contextLength: undefined },
    memory: { cacheBytes: 2 ** 20, longestPrompt: Infinity, cacheLimit: 'CACHE_BYTES', limit: undefined },
  });
  const start = () => decoder.start({ maxRows: 2, maxLength: 40, signal: new AbortController().signal });
  return { runs, start };
}

test('generations share each step, and rows leave with the one that ends', async () => {
  const { runs, start } = counting();
  const [first, second] = [await start(), await start()];
  await Promise.all([first.prefill({ tokens: [1, 2] }), second.prefill({ tokens: [3] })]);
  await Promise.all([first.step([4]), second.step([5])]);
  first.end();
  await second.step([6]);
  second.end();
  expect(runs).toEqual(['prompt 1,2', 'prompt 3', 'step 4,5', 'step 6']);
});

test('rows that are dropped leave the batch, those that branch join it', async () => {
  const { runs, start } = counting();
  const decoding = await start();
  await decoding.prefill({ tokens: [1] });
  decoding.reorder([0, 0]);
  await decoding.step([2, 3]);
  decoding.reorder([1]);
  await decoding.step([4]);
  decoding.end();
  expect(runs).toEqual(['prompt 1', 'step 2,3', 'step 4']);
});

test('prompts of the same tokens and other images share what stands before the images', async () => {
  const { runs, start } = counting();
  const words = Array.from({ length: 20 }, (_, i) => i);
  const tokens = [...words, 99, 99, 7];
  const fed = async (keys: number[], shift: number) => {
    const decoding = await start();
    await decoding.prefill({ tokens, keys, positions: { axes: [words], shift } });
    await decoding.step([8]);
    decoding.end();
    return runs.splice(0);
  };
  expect(await fed([...words, -1, -2, 7], 0)).toEqual([`prompt ${tokens.join()}`, 'step 8']);
  expect(await fed([...words, -3, -4, 7], 0)).toEqual(['prompt 99,99,7', 'step 8']);
  expect(await fed([...words, -3, -4, 7], 0)).toEqual(['step 7', 'step 8']);
});
