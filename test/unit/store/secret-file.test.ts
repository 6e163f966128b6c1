import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from '../../../gateway/config.js';
import { readServerSettings } from '../../../runtime/boot/config.js';
import { readSecretFile } from '../../../runtime/store/secret-file.js';

const dir = mkdtempSync(join(tmpdir(), 'slipway-secret-'));
const fileOf = (name: string, text: string) => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};
const problem = (message: string) => new TypeError(message);

test('the space around a secret is none of it, and a file that is no secret is not read into one', () => {
  expect(readSecretFile('KEY_FILE', fileOf('key', ' hush\n'), problem)).toBe('hush');
  expect(readSecretFile('KEY_FILE', fileOf('large', 'x'.repeat(2 ** 21)), problem)).toHaveLength(2 ** 20);
});

test('a file that can not be read is the error of whoever asks, which names the variable', () => {
  const read = () => readSecretFile('KEY_FILE', join(dir, 'none'), problem);
  expect(read).toThrow(new TypeError("KEY_FILE names a file that can't be read (ENOENT)"));
});

test('an empty file is a mistake to a server, and no token to the gateway', () => {
  const HF_TOKEN_FILE = fileOf('empty', '\n');
  expect(() => readServerSettings({ HF_TOKEN_FILE })).toThrow('HF_TOKEN_FILE names a file that is empty');
  expect(readEnvironment({ HF_TOKEN_FILE }).hub.token).toBeUndefined();
});
