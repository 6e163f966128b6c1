import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const dist = path.resolve('dist/gateway/main.js');

async function keys(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [dist, 'keys', ...args]);
  return stdout;
}

test('keys that several operators make at the same time are all kept', async () => {
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'slipway-keys-')), 'keys.json');
  await Promise.all(['a', 'b', 'c', 'd'].map((name) => keys('create', '--name', name, '--keys', file)));
  const rows = JSON.parse(await keys('list', '--json', '--keys', file)) as { name: string }[];
  expect(rows.map(({ name }) => name).toSorted()).toEqual(['a', 'b', 'c', 'd']);
});

test('names can not write to the terminal of who lists them', async () => {
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'slipway-keys-')), 'keys.json');
  await keys('create', '--name', 'shop\u001b[2J\r\nforged', '--keys', file);
  const listed = await keys('list', '--keys', file);
  expect(listed).toContain('shop\\u{1b}[2J\\u{d}\\u{a}forged');
  expect(listed.trim().split('\n')).toHaveLength(1);
});
