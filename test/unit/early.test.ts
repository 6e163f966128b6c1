import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beginEarly } from '../../runtime/boot/early.js';

const folder = mkdtempSync(path.join(tmpdir(), 'early-'));
const fileOf = (name: string, text: string) => {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
};
const MODEL_SPEC = fileOf('model.json', '{"engine": "transformers", "task": "fill-mask"}');

test('a process for the engine is started, without secrets, and what has ended is not given', async () => {
  const early = beginEarly({ ...process.env, MODEL_SPEC, KEY: 'secret' })!;
  expect(early.specText).toContain('fill-mask');
  const child = early.engine()!;
  expect(child.spawnargs.slice(-3)).toEqual(['--for', 'transformers', 'fill-mask']);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(early.engine()).toBeUndefined();
});

test.each([
  ['the engine runs in this process', { MODEL_SPEC, INLINE: '1' }],
  ['there is no model.json', { MODEL_SPEC: path.join(folder, 'none.json') }],
  ['model.json is no JSON', { MODEL_SPEC: fileOf('broken.json', '{"engine": ') }],
  ['model.json is no object', { MODEL_SPEC: fileOf('null.json', 'null') }],
  ['model.json names no engine', { MODEL_SPEC: fileOf('other.json', '{"task": "fill-mask"}') }],
])('nothing is begun where %s', (_, env) => {
  expect(beginEarly(env)).toBeUndefined();
});

const isRoot = process.getuid?.() === 0;
(isRoot ? test : test.skip)('nothing is begun by root for what is no user', () => {
  expect(beginEarly({ MODEL_SPEC, RUN_AS: 'me' })).toBeUndefined();
});
