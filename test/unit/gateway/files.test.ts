import { chmod, lstat, mkdtemp, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readCatalogFile } from '../../../gateway/catalog/file.js';
import { changeKeys, readKeys } from '../../../gateway/keys/key-file.js';
import { fixedKeys, newKey } from '../../../gateway/keys/key-store.js';
import { meterOf, readTiers } from '../../../gateway/meters.js';
import { parseDuration, parseGigabytes, parsePublicAddress, parseRate } from '../../../gateway/options.js';

const folder = () => mkdtemp(path.join(tmpdir(), 'slipway-gateway-'));

async function catalogOf(text: string) {
  const file = path.join(await folder(), 'models.yaml');
  await writeFile(file, text);
  return { file, read: () => readCatalogFile(file) };
}

test('a catalogue says what it has to; the rest has defaults', async () => {
  const { file, read } = await catalogOf(`
models:
  - id: org/one
    task: chat
  - { id: org/two, task: fill-mask, params: 0.1, ramRequired: 2.5, addresses: ["http://10.0.0.1:80/"], from: files }
`);
  expect(await read()).toEqual([
    {
      ...{ modelId: 'org/one', task: 'chat', params: null, ramRequired: 0.3, figures: 'assumed' },
      ...{ addresses: [], from: undefined },
    },
    {
      ...{ modelId: 'org/two', task: 'fill-mask', params: 0.1, ramRequired: 2.5, figures: 'given' },
      ...{ addresses: ['http://10.0.0.1:80'], from: path.join(path.dirname(file), 'files') },
    },
  ]);
});

test.each([
  ['no list', 'models: 3', /models/],
  ['an unknown task', 'models: [{ id: a/b, task: cooking }]', /models\.0\.task/],
  ['no model id', 'models: [{ id: "../..", task: chat }]', /models\.0\.id: expected org\/name/],
  ['a key that nobody knows', 'models: [{ id: a/b, task: chat, ram: 3 }]', /ram/],
  ['an address of another kind', 'models: [{ id: a/b, task: chat, addresses: ["file:///x"] }]', /addresses/],
  ['a model twice', 'models: [{ id: a/b, task: chat }, { id: a/b, task: chat }]', /a\/b twice/],
  ['no YAML', 'models: [', /no YAML/],
])('a catalogue with %s is refused, and the place is named', async (_, text, named) => {
  await expect((await catalogOf(text)).read()).rejects.toThrow(named);
});

describe('models that others serve', () => {
  const remote = (fields: string, row = 'task: chat') =>
    catalogOf(
      `models: [{ id: a/b, ${row}, remote: { kind: openai, url: "https://x.test/v1/", model: m${fields} } }]`,
    );

  test('take no memory here; their key lies beside the catalogue', async () => {
    const { file, read } = await remote(', keyFile: key, price: { meter: gpt, perSecond: "0.01" }');
    await expect(read()).rejects.toThrow(/key can't be read \(ENOENT\)/);
    const key = path.join(path.dirname(file), 'key');
    await writeFile(key, 'two words');
    await expect(read()).rejects.toThrow(/has to hold one key/);
    await writeFile(key, 'sk-1\n');
    const [entry] = await read();
    expect(entry).toMatchObject({
      ...{ modelId: 'a/b', ramRequired: 0, figures: 'given' },
      remote: {
        url: 'https://x.test/v1',
        keyFile: key,
        timeout: 600,
        lengthParameter: 'max_tokens',
        limits: {},
      },
    });
    const tiers = await readTiers('gateway/prices.json');
    expect(meterOf(entry!, tiers)).toEqual({ meter: 'gpt', meterPrice: '0.01 / sec', perSecond: 0.01 });
    expect(meterOf({ ...entry!, remote: undefined }, tiers).meter).toBe('micro-lm');
  });

  test.each([
    ['a task that its kind does not serve', '', 'task: fill-mask', /a\/b: task: openai serves chat, /],
    [
      'a parameter that can not be given',
      ', parameters: [num_beams]',
      undefined,
      /num_beams can't be given to openai/,
    ],
    [
      'an address of its own',
      '',
      'task: chat, addresses: ["http://a"]',
      /addresses: is for models that are not/,
    ],
    ['a folder of its own', '', 'task: chat, from: x', /from: is for models that are not/],
    ['a field that nobody knows', ', apiKey: x', undefined, /apiKey/],
    [
      'a price that is no text',
      ', price: { meter: a, perSecond: 0.1 }',
      undefined,
      /remote\.price\.perSecond/,
    ],
  ])('%s is refused by name', async (_, fields, row, told) => {
    await expect((await remote(fields, row)).read()).rejects.toThrow(told);
  });

  test('a name that no gateway has is refused', async () => {
    const text =
      'models: [{ id: a/b, task: chat, remote: { kind: slipway, url: "https://x.test", model: "a?b" } }]';
    await expect((await catalogOf(text)).read()).rejects.toThrow(/a\/b: remote\.model: another gateway/);
  });

  test.each(['https://u:p@x.test', 'https://x.test?key=1', 'file:///x'])('not at %s', async (url) => {
    const text = `models: [{ id: a/b, task: chat, remote: { kind: slipway, url: "${url}", model: a/b } }]`;
    const error = await (await catalogOf(text)).read().catch((error: Error) => error);
    expect(String(error)).toMatch(/models\.0\.remote\.url/);
    expect(String(error)).not.toContain('u:p');
  });
});

test('keys are kept by their hashes, for their owner only', async () => {
  const file = path.join(await folder(), 'keys.json');
  const [one, two] = [newKey('one', new Date(0)), newKey('two', new Date(0))];
  await changeKeys(file, () => [one.record, two.record]);
  const text = await readFile(file, 'utf8');
  expect(text).not.toContain(one.secret);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const keys = fixedKeys(await readKeys(file));
  expect(keys.find(two.secret)).toMatchObject({ name: 'two', id: two.record.id });
  for (const wrong of ['', `${two.secret}x`, two.record.hash, two.secret.toUpperCase()])
    expect(keys.find(wrong)).toBeUndefined();
  // 256 bits.
  expect(Buffer.from(one.secret.slice(4), 'base64url')).toHaveLength(32);
});

test('a broken file of keys is told, not taken for none', async () => {
  const file = path.join(await folder(), 'keys.json');
  await writeFile(file, '{"version":1,"keys":[{"id":"x"}]}');
  await expect(readKeys(file)).rejects.toThrow(/can't be used: keys\.0\.name/);
  await writeFile(file, '{');
  await expect(readKeys(file)).rejects.toThrow(/can't be used: .*JSON/);
  expect(await readKeys(`${file}.none`)).toEqual([]);
});

test('keys that can not be written are told, and nothing is left beside them', async () => {
  const file = path.join(await folder(), 'none', 'keys.json');
  await expect(changeKeys(file, () => [])).rejects.toThrow(
    /can't be written \(ENOENT\); give another --keys/,
  );
});

test('keys that are made and taken back at the same time are neither lost nor come again', async () => {
  const file = path.join(await folder(), 'keys.json');
  const made = Array.from({ length: 12 }, (_, i) => newKey(`${i}`, new Date(0)).record);
  await changeKeys(file, () => made.slice(0, 6));
  await Promise.all([
    ...made.slice(6).map((record) => changeKeys(file, (keys) => [...keys, record])),
    ...made.slice(0, 6).map(({ id }) => changeKeys(file, (keys) => keys.filter((key) => key.id !== id))),
  ]);
  expect((await readKeys(file)).map(({ name }) => name).toSorted()).toEqual(['10', '11', '6', '7', '8', '9']);
  expect(await readdir(path.dirname(file))).toEqual(['keys.json']);
});

test('a change that is refused leaves the keys, and no lock', async () => {
  const file = path.join(await folder(), 'keys.json');
  const { record } = newKey('one', new Date(0));
  await changeKeys(file, () => [record]);
  const refuse = () => {
    throw new Error('no such key');
  };
  await expect(changeKeys(file, refuse)).rejects.toThrow('no such key');
  expect(await readKeys(file)).toEqual([record]);
  expect(await readdir(path.dirname(file))).toEqual(['keys.json']);
});

test.each(['a file', 'nothing yet'])('a link to %s stays a link', async (kind) => {
  const dir = await folder();
  const [file, target] = [path.join(dir, 'keys.json'), path.join(dir, 'mounted.json')];
  if (kind === 'a file') await changeKeys(target, () => [newKey('old', new Date(0)).record]);
  await symlink('mounted.json', file);
  await changeKeys(file, (keys) => [...keys, newKey('new', new Date(0)).record]);
  expect((await lstat(file)).isSymbolicLink()).toBe(true);
  const names = (await readKeys(target)).map(({ name }) => name);
  expect(names).toEqual(kind === 'a file' ? ['old', 'new'] : ['new']);
});

test('who could read the keys before a change can do so after it', async () => {
  const file = path.join(await folder(), 'keys.json');
  await changeKeys(file, () => []);
  await chmod(file, 0o640);
  await changeKeys(file, () => [newKey('one', new Date(0)).record]);
  expect((await stat(file)).mode & 0o777).toBe(0o640);
});

test('the smallest tier that holds a model; language models have prices of their own', async () => {
  const tiers = await readTiers('gateway/prices.json');
  const meter = (task: 'chat' | 'fill-mask', ramRequired: number) => meterOf({ task, ramRequired }, tiers);
  expect(meter('chat', 0.3)).toMatchObject({ meter: 'micro-lm', meterPrice: '0.0000872083 / sec' });
  expect(meter('fill-mask', 16)).toMatchObject({ meter: 'micro', meterPrice: '0.00053440 / sec' });
  expect(meter('chat', 16.1)).toMatchObject({ meter: 'xs-lm' });
  expect(meter('chat', 10_000)).toMatchObject({ meter: 'super-lm' });
});

test('amounts as people write them', () => {
  expect([parseDuration('90s'), parseDuration('5m'), parseDuration('1.5h')]).toEqual([
    90_000, 300_000, 5_400_000,
  ]);
  expect([parseGigabytes('8GB'), parseGigabytes('512MB'), parseGigabytes('1.5g')]).toEqual([8, 0.512, 1.5]);
  expect(parseRate('600/60s')).toEqual({ calls: 600, seconds: 60 });
  expect(['https://a.example/', 'http://a.example:8080/ai'].map(parsePublicAddress)).toEqual([
    ...['https://a.example', 'http://a.example:8080/ai'],
  ]);
  for (const wrong of [
    'a.example',
    'javascript:alert(1)',
    'https://u:p@x',
    'https://x?key=1',
    'https://x/#',
    '',
  ])
    expect(() => parsePublicAddress(wrong)).toThrow();
  for (const wrong of ['', '5', '5 m', '-1s']) expect(() => parseDuration(wrong)).toThrow();
  for (const wrong of ['8', '0GB', '-1GB', 'GB']) expect(() => parseGigabytes(wrong)).toThrow();
  for (const wrong of ['600', '0/1s', '1/0']) expect(() => parseRate(wrong)).toThrow();
});
