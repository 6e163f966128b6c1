import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

function keys(file: string, ...args: string[]) {
  const command = ['dist/gateway/main.js', 'keys', ...args, '--keys', file];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
  return { status, stdout: stdout.trim(), stderr: stderr.trim() };
}

test('limits of a key are set when it is made and afterwards, and shown', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'slipway-keys-')), 'keys.json');
  const made = keys(file, 'create', '--name', 'trial', '--rate', '30/1m', '--concurrent', '2', '--json');
  const { id } = JSON.parse(made.stdout) as { id: string };
  const shown = () => JSON.parse(keys(file, 'list', '--json').stdout) as object[];
  expect(shown()).toEqual([
    {
      ...{ id, name: 'trial', created: expect.any(String) },
      limits: { rate: { calls: 30, seconds: 60 }, concurrent: 2 },
    },
  ]);
  expect(keys(file, 'list').stdout).toMatch(/ {2}trial {2}\(30\/60s, 2 at once\)$/);
  expect(keys(file, 'limits', id, '--rate', '5/1h').stdout).toBe(`${id} has 5/3600s`);
  expect(shown()).toMatchObject([{ limits: { rate: { calls: 5, seconds: 3600 } } }]);
  expect(keys(file, 'limits', id).stdout).toBe(`${id} has the limits of "gateway serve"`);
  expect(shown()).toEqual([{ id, name: 'trial', created: expect.any(String) }]);
});

test('limits that are none, and keys that are not there, are refused by name', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'slipway-keys-')), 'keys.json');
  expect(keys(file, 'create', '--rate', '5')).toMatchObject({ status: 1, stdout: '' });
  expect(keys(file, 'create', '--rate', '5/0s').stderr).toContain("limits can't be set: rate.seconds");
  expect(keys(file, 'create', '--concurrent', '0').stderr).toContain('--concurrent');
  expect(keys(file, 'limits', 'nobody', '--concurrent', '1').stderr).toContain('has no key nobody');
});
