import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readBuilderConfig } from '../../../builder/config.js';

describe('the environment of the builder', () => {
  test('defaults', () => {
    const config = readBuilderConfig({});
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
    const config = readBuilderConfig(env);
    expect(config).toMatchObject({
      endpoint: 'http://mirror:8000/hf',
      cache: '/c/slipway',
      key: 'k',
      colour: false,
    });
    expect(config.token()).toBe('t');
  });

  test.each(['mirror', 'ftp://x', 'http//x'])('HF_ENDPOINT %s is wrong usage', (HF_ENDPOINT) => {
    expect(() => readBuilderConfig({ HF_ENDPOINT })).toThrow(expect.objectContaining({ exit: 'usage' }));
  });

  test('a token comes from its file, which is read when it is needed', () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'slipway-token-')), 'token');
    const config = readBuilderConfig({ HF_TOKEN_FILE: file });
    expect(() => config.token()).toThrow(/HF_TOKEN_FILE.*ENOENT/);
    writeFileSync(file, 'hf_secret\n');
    expect(config.token()).toBe('hf_secret');
  });
});
