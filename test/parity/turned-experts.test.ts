import { expect, test } from '@jest/globals';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { plannedModel, serveInline } from './load.js';
import { FIXTURES, modelAt } from './zoo.js';

interface Tensor {
  shape: [experts: number, rows: number, columns: number];
  data_offsets: [start: number, end: number];
}

/** [experts, rows, columns] of 16 bits each as [experts, columns, rows]. */
function turned(bytes: Buffer, [experts, rows, columns]: Tensor['shape']): Buffer {
  const out = Buffer.alloc(bytes.length);
  for (let expert = 0; expert < experts; expert++)
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < columns; column++) {
        const from = (expert * rows + row) * columns + column;
        const to = (expert * columns + column) * rows + row;
        out.writeUInt16LE(bytes.readUInt16LE(2 * from), 2 * to);
      }
  return out;
}

/** Stacks of experts as transformers 5.24 saves them. */
async function turnExperts(path: string): Promise<number> {
  const file = await readFile(path);
  const length = Number(file.readBigUInt64LE());
  const header = JSON.parse(file.toString('utf8', 8, 8 + length)) as Record<string, Tensor>;
  const stacks = Object.keys(header).filter((name) => /\.experts\.(gate_up|down)_proj$/.test(name));
  for (const name of stacks) {
    const { shape, data_offsets: offsets } = header[name]!;
    const [start, end] = offsets.map((offset) => 8 + length + offset) as [number, number];
    turned(file.subarray(start, end), shape).copy(file, start);
    header[name]!.shape = [shape[0], shape[2], shape[1]];
  }
  file.write(JSON.stringify(header).padEnd(length), 8, 'utf8');
  await writeFile(path, file);
  return stacks.length;
}

const task = 'video-text-to-text';
const { about, cases, repo } = await modelAt({
  ...{ task, name: 'qwen3-vl-moe', root: 'zoo-weights' },
  dir: join(FIXTURES, 'zoo-weights/video-text-to-text/qwen3-vl-moe'),
});

/** What a model in this folder makes of the first case. */
async function answerOf(folder: string) {
  const { spec, dir } = await plannedModel(task, about.id, folder);
  const served = await serveInline(spec, dir);
  try {
    return await served.run(cases[0]!.request);
  } finally {
    served.stop();
    await rm(dir, { recursive: true });
  }
}

test('experts of Qwen3-VL that transformers 5 saved the other way round answer as those of version 4', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'turned-experts-'));
  try {
    await cp(repo, folder, { recursive: true });
    expect(await turnExperts(join(folder, 'model.safetensors'))).toBeGreaterThan(1);
    const expected = await answerOf(repo);
    expect(expected.status).toBe(200);
    expect(await answerOf(folder)).toEqual(expected);
  } finally {
    await rm(folder, { recursive: true });
  }
});
