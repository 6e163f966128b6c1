import { expect, test } from '@jest/globals';
import { join } from 'node:path';
import { answersOf, rewriteTensors } from './rewritten.js';
import { FIXTURES, modelAt } from './zoo.js';

/** Names tensors without a prefix, as CLIPTextModel of transformers 5 saves itself. @returns how many had it */
async function withoutPrefix(path: string, prefix: string): Promise<number> {
  let count = 0;
  await rewriteTensors(path, (header) => {
    const isLong = (name: string) => name.startsWith(prefix);
    count = Object.keys(header).filter(isLong).length;
    return Object.fromEntries(
      Object.entries(header).map(([name, tensor]) => [
        isLong(name) ? name.slice(prefix.length) : name,
        tensor,
      ]),
    );
  });
  return count;
}

const model = await modelAt({
  ...{ task: 'text-to-image', name: 'lcm', root: 'zoo-weights' },
  dir: join(FIXTURES, 'zoo-weights/text-to-image/lcm'),
});

test('a pipeline whose text encoder transformers 5 saved makes the image that it makes as of version 4', async () => {
  const { own, rewritten } = await answersOf(model, async (folder) => {
    const weights = join(folder, 'text_encoder/model.fp16.safetensors');
    expect(await withoutPrefix(weights, 'text_model.')).toBeGreaterThan(8);
  });
  expect(own.status).toBe(200);
  expect(rewritten).toEqual(own);
});
