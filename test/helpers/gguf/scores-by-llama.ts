import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLlama } from '../../../runtime/engines/llama/ffi/native-llama.js';

/** Scores of every token of a text, one after the other, as llama.cpp computes them with a cache of 32 bits. */
export async function scoresByLlama(file: Buffer, tokens: readonly number[]): Promise<Float32Array> {
  const path = join(await mkdtemp(join(tmpdir(), 'gguf-')), 'm.gguf');
  await writeFile(path, file);
  const model = await openLlama().openModel(path, { gpuLayers: 0 });
  const shape = { cells: 256, batch: 64, rows: 1, outputs: 64, threads: 1, cacheType: 'f32' } as const;
  const context = await model.openContext(shape);
  try {
    await context.run(tokens.map((id, position) => ({ id, position, row: 0, output: true })));
    return Float32Array.from(tokens.flatMap((_, i) => [...context.scores(i)]));
  } finally {
    context.close();
    model.close();
  }
}
