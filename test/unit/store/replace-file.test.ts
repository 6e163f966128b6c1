import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replaceFile } from '../../../runtime/store/replace-file.js';

const folder = () => mkdtempSync(join(tmpdir(), 'slipway-replace-'));

test('a file is replaced, and readers of the old one keep it', async () => {
  const file = join(folder(), 'a.json');
  await replaceFile(file, 'old');
  const { ino } = statSync(file);
  await replaceFile(file, Buffer.from('new'), { sync: true });
  expect(readFileSync(file, 'utf8')).toBe('new');
  expect(statSync(file).ino).not.toBe(ino);
});

test('a new file has its mode from the start, and what prepares it sees it before its name leads to it', async () => {
  const dir = folder();
  const file = join(dir, 'keys');
  const before: unknown[] = [];
  const prepare = async () => void before.push(readdirSync(dir));
  await replaceFile(file, 'secret', { mode: 0o600, prepare });
  expect(before).toEqual([[expect.stringMatching(/^keys\.[0-9a-f]{12}\.tmp$/)]]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('what fails leaves the old file and nothing else', async () => {
  const dir = folder();
  const file = join(dir, 'a');
  writeFileSync(file, 'old');
  const prepare = () => Promise.reject(new Error('no owner'));
  await expect(replaceFile(file, 'new', { prepare })).rejects.toThrow('no owner');
  expect(readFileSync(file, 'utf8')).toBe('old');
  await expect(replaceFile(join(dir, 'none', 'b'), 'new')).rejects.toMatchObject({ code: 'ENOENT' });
  expect(readdirSync(dir)).toEqual(['a']);
});

test('of several at a time, one is there whole', async () => {
  const dir = folder();
  const texts = Array.from({ length: 8 }, (_, i) => String(i).repeat(100_000));
  await Promise.all(texts.map((text) => replaceFile(join(dir, 'a'), text)));
  expect(texts).toContain(readFileSync(join(dir, 'a'), 'utf8'));
  expect(readdirSync(dir)).toEqual(['a']);
});
