import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readConfig } from '../../../builder/config.js';

describe('the environment of the builder', () => {
  test('defaults', () => {
    const config = readConfig({});
    expect(config).toMatchObject({ endpoint: 'https://huggingface.co', key: undefined, colour: true });
    expect(config.token()).toBeUndefined();
    expect(config.cache).toMatch(/\.cache\/slipway$/);
  });

  test('given', () => {
    const env = {
      HF_ENDPOINT: 'http://mirror:8000/hf/',
      XDG_CACHE_HOME: '/c',
      KEY: ' k ',
      NO_COLOR: '1',
      HF_TOKEN: 't',
    };
    const config = readConfig(env);
    expect(config).toMatchObject({
      endpoint: 'http://mirror:8000/hf',
      cache: '/c/slipway',
      key: 'k',
      colour: false,
    });
    expect(config.token()).toBe('t');
  });

  test.each(['mirror', 'ftp://x', 'http//x'])('HF_ENDPOINT %s is wrong usage', (HF_ENDPOINT) => {
    expect(() => readConfig({ HF_ENDPOINT })).toThrow(expect.objectContaining({ exit: 'usage' }));
  });

  test('a token comes from its file, which is read when it is needed', () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'slipway-token-')), 'token');
    const config = readConfig({ HF_TOKEN_FILE: file });
    expect(() => config.token()).toThrow(/HF_TOKEN_FILE.*ENOENT/);
    writeFileSync(file, 'hf_secret\n');
    expect(config.token()).toBe('hf_secret');
  });
});
