import { expect, test } from '@jest/globals';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { plannedModel, serveInline } from './load.js';
import { FIXTURES, modelAt } from './zoo.js';

/** A file of safetensors whose tensors are named without a prefix, as CLIPTextModel of transformers 5 saves itself. */
async function withoutPrefix(path: string, prefix: string): Promise<number> {
  const file = await readFile(path);
  const length = Number(file.readBigUInt64LE());
  const header = JSON.parse(file.toString('utf8', 8, 8 + length)) as Record<string, unknown>;
  const names = Object.keys(header).filter((name) => name.startsWith(prefix));
  const renamed = Object.entries(header).map(([name, tensor]) => [
    names.includes(name) ? name.slice(prefix.length) : name,
    tensor,
  ]);
  const text = JSON.stringify(Object.fromEntries(renamed)).padEnd(length);
  file.write(text, 8, 'utf8');
  await writeFile(path, file);
  return names.length;
}

const { cases, repo } = await modelAt({
  ...{ task: 'text-to-image', name: 'lcm', root: 'zoo-weights' },
  dir: join(FIXTURES, 'zoo-weights/text-to-image/lcm'),
});
/** What a model in this folder makes of the first case. */
async function answerOf(folder: string) {
  const { spec, dir } = await plannedModel('text-to-image', 'test/lcm', folder);
  const served = await serveInline(spec, dir);
  try {
    return await served.run(cases[0]!.request);
  } finally {
    served.stop();
    await rm(dir, { recursive: true });
  }
}

test('a pipeline whose text encoder transformers 5 saved makes the picture that it makes as of version 4', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'text-tower-'));
  try {
    await cp(repo, folder, { recursive: true });
    const weights = join(folder, 'text_encoder/model.fp16.safetensors');
    expect(await withoutPrefix(weights, 'text_model.')).toBeGreaterThan(8);
    const expected = await answerOf(repo);
    expect(expected.status).toBe(200);
    expect(await answerOf(folder)).toEqual(expected);
  } finally {
    await rm(folder, { recursive: true });
  }
});
