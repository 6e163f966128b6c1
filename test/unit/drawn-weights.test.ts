import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawn, graphModel } from '../fakes/drawn-weights.js';

// What scripts/fixtures/drawn.py gives.
test('numbers are those that Python draws', () => {
  const found = drawn([2564107491, 6, 0, 266], 96 * 32);
  expect([...found.subarray(0, 6)]).toEqual([-0.015625, 1.078125, 0.234375, 0.078125, -0.390625, 0.09375]);
  expect(createHash('sha256').update(found).digest('hex')).toBe(
    'd95167c0f3e14a6773220ed944db97a763b8597bc5d12868a44c08cda5c277c1',
  );
});

test('a centre and places before the point', () => {
  expect([...drawn([7, -1, 40, 88], 5)]).toEqual([116.0, 78.0, 134.0, 92.0, 70.0]);
});

test.each([
  [
    'float32',
    'llama',
    'model.safetensors',
    '3776a06f8394b2f55e9ce0de590e8c0d81536ad358cc06eed464924f90329d9a',
  ],
  [
    'bfloat16',
    'gemma',
    'model.safetensors',
    '071a252d89af8324ef32f0b1b1e9eec13dfeec45793ee8a2b06015d9f99dded8',
  ],
  [
    'float16',
    'layoutlm',
    'model.safetensors',
    '66c2f499b1b9eb92598df2e7c625f3d37cd7b21ca57d20c97d857d43f7974f12',
  ],
  [
    'a shard',
    'qwen2-window',
    'model-00001-of-00005.safetensors',
    '7421a38cdca7fa574f096f4401254d33e05b3829cef11059e688668452e0630d',
  ],
])('a checkpoint is the file that Python saved: %s', (_, name, file, digest) => {
  const content = readFileSync(join(graphModel(name), file));
  expect(createHash('sha256').update(content).digest('hex')).toBe(digest);
});

test('a checkpoint is written once, with all its other files', () => {
  const folder = graphModel('llama');
  expect(readdirSync(folder).sort()).toEqual(['cases.json', 'config.json', 'model.safetensors']);
  expect(graphModel('llama')).toBe(folder);
});
