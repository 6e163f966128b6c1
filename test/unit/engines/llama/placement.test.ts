import type { LlamaDevice } from '../../../../runtime/engines/llama/llama.js';
import { placeLayers, type PlacementInput } from '../../../../runtime/engines/llama/placement.js';

const GB = 1e9;
const LAYERS = 80;

/** A model of 80 layers with 500 MB each, or with 50 MB and experts of 450. */
function model(mixture = false): PlacementInput['model'] {
  const tensor = (name: string, length: number) => ({
    ...{ name, length, shape: [1000, 1000], type: 'Q4_K', offset: 0, file: 'a.gguf' },
  });
  const layers = Array.from({ length: LAYERS }, (_, i) =>
    mixture
      ? [tensor(`blk.${i}.attn_q.weight`, 0.05 * GB), tensor(`blk.${i}.ffn_up_exps.weight`, 0.45 * GB)]
      : [tensor(`blk.${i}.attn_q.weight`, 0.5 * GB)],
  );
  return {
    tensors: [tensor('token_embd.weight', 0.6 * GB), tensor('output.weight', 0.6 * GB), ...layers.flat()],
    metadata: new Map<string, string | number>([
      ['general.architecture', 'llama'],
      ['llama.block_count', LAYERS],
      ['llama.embedding_length', 8192],
      ['llama.attention.head_count', 64],
      ['llama.attention.head_count_kv', 8],
      ['llama.context_length', 32_768],
    ]),
  };
}

const processor: LlamaDevice = { name: 'CPU', description: '', kind: 'cpu', free: 200 * GB, total: 200 * GB };
const gpu = (free: number): LlamaDevice => ({
  ...{ name: 'CUDA0', description: 'a GPU', kind: 'gpu', total: 24 * GB },
  free,
});

const shape = { cells: 16_384, batch: 512, outputs: 64, rows: 64, cacheType: 'f16' } as const;

const place = (more: Partial<PlacementInput>) =>
  placeLayers({ model: model(), shape, devices: [processor], settings: {}, ...more });

test('without a GPU all layers are on the processor', () => {
  expect(place({})).toMatchObject({
    ...{ gpuLayers: 0, layers: LAYERS, gpuBytes: 0 },
    text: 'all 80 layers on the processor: no GPU is used',
  });
});

test('a GPU gets what fits its free memory with cache and buffers', () => {
  const found = place({ devices: [processor, gpu(20 * GB)] });
  expect(found.gpuLayers).toBeGreaterThan(25);
  expect(found.gpuLayers).toBeLessThan(33);
  expect(found.gpuBytes).toBeLessThanOrEqual(18 * GB);
  expect(found.text).toMatch(new RegExp(`^${found.gpuLayers} of 80 layers on the GPU: 18000 MB of 24000 MB`));
});

test('one that has room for all gets the output as well', () => {
  const found = place({ devices: [gpu(80 * GB)] });
  expect(found).toMatchObject({ gpuLayers: LAYERS + 1, text: 'all 80 layers on the GPU' });
});

test('two GPUs share what both have free', () => {
  const found = place({ devices: [gpu(24 * GB), gpu(24 * GB)], settings: { tensorSplit: [3, 1] } });
  expect(found.gpuLayers).toBeGreaterThan(60);
  expect(found.text).toContain('on 2 GPUs');
  expect(found.tensorSplit).toEqual([3, 1]);
});

test('a GPU that is full gets none', () => {
  expect(place({ devices: [gpu(0.2 * GB)] })).toMatchObject({
    gpuLayers: 0,
    text: expect.stringMatching(/^all 80 layers on the processor, none on the GPU: /),
  });
});

test.each([
  [12, 12],
  [500, LAYERS + 1],
  [0, 0],
])('GPU_LAYERS %i is followed', (gpuLayers, expected) => {
  expect(place({ devices: [gpu(20 * GB)], settings: { gpuLayers } }).gpuLayers).toBe(expected);
});

test('of a mixture the experts go to RAM first', () => {
  const found = place({ model: model(true), devices: [processor, gpu(20 * GB)] });
  expect(found).toMatchObject({ expertsOnCpu: true, gpuLayers: LAYERS + 1 });
  expect(found.gpuBytes).toBeLessThan(18 * GB);
  expect(found.text).toMatch(/^all 80 layers on the GPU, their experts in RAM/);
});

test('a mixture that fits keeps its experts', () => {
  expect(place({ model: model(true), devices: [gpu(80 * GB)] }).expertsOnCpu).toBe(false);
});
