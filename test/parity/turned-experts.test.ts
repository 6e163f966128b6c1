import { expect, test } from '@jest/globals';
import { join } from 'node:path';
import { answersOf, rewriteTensors } from './rewritten.js';
import { FIXTURES, modelAt } from './zoo.js';

type Stack = [experts: number, rows: number, columns: number];

/** [experts, rows, columns] of 16 bits each as [experts, columns, rows]. */
function turned(bytes: Buffer, [experts, rows, columns]: Stack): Buffer {
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

/** Stacks of experts as transformers 5.24 saves them. @returns how many there are */
async function turnExperts(path: string): Promise<number> {
  let count = 0;
  await rewriteTensors(path, (header, data) => {
    const stacks = Object.keys(header).filter((name) => /\.experts\.(gate_up|down)_proj$/.test(name));
    for (const name of stacks) {
      const { shape, data_offsets: offsets } = header[name]!;
      turned(data.subarray(...offsets), shape as Stack).copy(data, offsets[0]);
      header[name]!.shape = [shape[0]!, shape[2]!, shape[1]!];
    }
    count = stacks.length;
    return header;
  });
  return count;
}

const model = await modelAt({
  ...{ task: 'video-text-to-text', name: 'qwen3-vl-moe', root: 'zoo-weights' },
  dir: join(FIXTURES, 'zoo-weights/video-text-to-text/qwen3-vl-moe'),
});

test('experts of Qwen3-VL that transformers 5 saved the other way round answer as those of version 4', async () => {
  const { own, rewritten } = await answersOf(model, async (folder) => {
    expect(await turnExperts(join(folder, 'model.safetensors'))).toBeGreaterThan(1);
  });
  expect(own.status).toBe(200);
  expect(rewritten).toEqual(own);
});
