import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localHost } from '../../../../runtime/engines/sessions/host.js';

const GRAPH = join(import.meta.dirname, '../../../fixtures/zoo/fill-mask/bert/repo/onnx/model.onnx');

describe('weights in the layout of the kernels', () => {
  let dir: string;
  beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'slipway-align-'))));
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  // Its vocabulary's bias has an odd size, behind which ONNX Runtime writes everything at odd places.
  test('lie where the widest vector loads can read them, and give the answers of the graph itself', async () => {
    const host = localHost();
    const options = { device: 'cpu' as const, threads: 1 };
    const original = await host.open(GRAPH, options);
    const optimized = await host.open(await host.writeOptimized(GRAPH, dir), options);

    const places = [...readFileSync(join(dir, 'model.onnx'), 'latin1').matchAll(/MatMul\+\d+\|(\d+);/g)];
    expect(places.length).toBeGreaterThan(4);
    expect(places.filter(([, offset]) => Number(offset) % 64 !== 0)).toEqual([]);

    const ids = (name: string) =>
      BigInt64Array.from({ length: 24 }, (_, i) => (name === 'input_ids' ? BigInt(i) : 1n));
    const feeds = () =>
      Object.fromEntries(
        original.inputs.map(({ name }) => [name, { type: 'int64', data: ids(name), dims: [2, 12] }]),
      );
    const [expected, actual] = [
      await host.run(original.key, feeds()),
      await host.run(optimized.key, feeds()),
    ];
    const largest = (actual['logits']!.data as Float32Array).reduce(
      (most, value, i) => Math.max(most, Math.abs(value - (expected['logits']!.data as Float32Array)[i]!)),
      0,
    );
    expect(largest).toBeLessThan(1e-5);
  });
});
