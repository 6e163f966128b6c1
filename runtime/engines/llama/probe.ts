import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from '../../core/errors.js';
import { openLlama } from './ffi/native-llama.js';
import type { Llama } from './llama.js';
import { probeModel } from './probe-model.js';

/**
 * Computes a token of a tiny network on the GPU, in a process of its own: a build that the driver is too old for aborts it then.
 * @returns why llama.cpp can't use a GPU here; undefined where it can
 */
export async function probeLlama(open: () => Llama = openLlama): Promise<string | undefined> {
  try {
    const llama = open();
    if (!llama.devices().some(({ kind }) => kind === 'gpu' || kind === 'igpu'))
      return 'llama.cpp finds no GPU here (no driver, or none is given to this container)';
    return await compute(llama);
  } catch (error) {
    return describe(error);
  }
}

async function compute(llama: Llama): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-probe-'));
  try {
    const path = join(folder, 'probe.gguf');
    await writeFile(path, probeModel());
    // Its layer and its output.
    const model = await llama.openModel(path, { gpuLayers: 2 });
    const context = await model.openContext({
      ...{ cells: 32, batch: 32, rows: 1, outputs: 1, threads: 1, cacheType: 'f16' },
    });
    await context.run([{ id: 1, position: 0, row: 0, output: true }]);
    const computes = context.scores(0).every(Number.isFinite);
    context.close();
    model.close();
    return computes ? undefined : 'llama.cpp computes what are no numbers on the GPU';
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
