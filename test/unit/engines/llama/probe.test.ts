import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLlama } from '../../../../runtime/engines/llama/ffi/native-llama.js';
import type { Llama, LlamaDevice } from '../../../../runtime/engines/llama/llama.js';
import { probeLlama } from '../../../../runtime/engines/llama/probe.js';
import { probeModel } from '../../../../runtime/engines/llama/probe-model.js';
import { folderWith } from '../../store/folders.js';

/** The library of this machine, beside a GPU that it does not have. */
function withGpu(more: Partial<Llama> = {}): Llama {
  const llama = openLlama();
  const gpu: LlamaDevice = {
    name: 'CUDA0',
    description: 'made up',
    kind: 'gpu',
    free: 2 ** 30,
    total: 2 ** 30,
  };
  return { ...llama, devices: () => [...llama.devices(), gpu], ...more };
}

test('llama.cpp opens the model of the trial and computes with it', async () => {
  const path = join(folderWith(), 'probe.gguf');
  writeFileSync(path, probeModel());
  const model = await openLlama().openModel(path, { gpuLayers: 0 });
  expect([model.layers, model.width, model.vocabulary.size]).toEqual([1, 64, 8]);
  model.close();
});

test('a machine without a GPU says so', async () => {
  expect(await probeLlama()).toMatch(/finds no GPU here/);
});

test('a GPU that computes is no problem', async () => {
  expect(await probeLlama(() => withGpu())).toBeUndefined();
});

test('what goes wrong is the answer', async () => {
  const failing = () => Promise.reject(new Error('no memory on CUDA0'));
  expect(await probeLlama(() => withGpu({ openModel: failing }))).toMatch(/no memory on CUDA0/);
});

test('numbers that are none are a problem', async () => {
  const openModel: Llama['openModel'] = async (path, options) => {
    const model = await openLlama().openModel(path, options);
    const openContext: typeof model.openContext = async (settings) => {
      const context = await model.openContext(settings);
      return { ...context, scores: () => Float32Array.of(NaN) };
    };
    return { ...model, openContext };
  };
  expect(await probeLlama(() => withGpu({ openModel }))).toMatch(/no numbers/);
});
