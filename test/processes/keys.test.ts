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

test('a key gets limits of its own, and those of all keys again', async () => {
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'slipway-keys-')), 'keys.json');
  await keys('create', '--name', 'shop', '--keys', file);
  const list = async () => (JSON.parse(await keys('list', '--json', '--keys', file)) as { id: string }[])[0]!;
  const { id } = await list();
  const limit = (...args: string[]) => keys('limit', id, '--keys', file, ...args);
  expect(await limit('--rate', '5/1m', '--concurrent', '2')).toBe(
    `${id} has these limits: 5/60s, 2 at once\n`,
  );
  expect(await list()).toMatchObject({ limits: { calls: 5, seconds: 60, concurrent: 2 } });
  expect(await keys('list', '--keys', file)).toContain('shop  (5/60s, 2 at once)');
  for (const wrong of [['--concurrent', '2'], [], ['--common', '--rate', '1/1s'], ['--rate', '1/0s']])
    await expect(limit(...wrong)).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('keys limit: '),
    });
  await limit('--common');
  expect(await list()).not.toHaveProperty('limits');
  await expect(keys('limit', 'nobody', '--common', '--keys', file)).rejects.toMatchObject({ code: 2 });
});
