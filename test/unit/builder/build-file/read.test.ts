import { Command } from 'commander';
import { parseBuildFile } from '../../../../builder/build-file/read.js';
import { addBakeOption, addImageOptions, addSourceOptions } from '../../../../builder/options.js';

const { options } = addBakeOption(addImageOptions(addSourceOptions(new Command())));
const defaults = { namespace: 'slipway', device: 'cpu' };

const parse = (content: string, given: Record<string, unknown> = {}) =>
  parseBuildFile(content, { file: '/srv/slipway.yaml', options, defaults, given });

/** What is said of a file that is wrong. */
function refusal(content: string): string[] {
  try {
    parse(content);
  } catch (error) {
    expect(error).toMatchObject({ name: 'BuilderError', exit: 'usage' });
    return (error as Error).message.split('\n');
  }
  throw new Error('the file was taken');
}

test('entries go over defaults of the file, and the command line over both', () => {
  const file = `
defaults: { bake: true, dtype: q8, namespace: team }
models:
  - org/plain
  - id: org/other
    bake: false
    revision: 'v1.0'
`;
  expect(parse(file, { dtype: 'fp32' })).toEqual([
    { id: 'org/plain', values: { namespace: 'team', device: 'cpu', bake: true, dtype: 'fp32' } },
    {
      id: 'org/other',
      values: { namespace: 'team', device: 'cpu', bake: false, dtype: 'fp32', revision: 'v1.0' },
    },
  ]);
});

test('values are what the command line makes of them', () => {
  const file = `
models:
  - id: org/m
    task: fill-mask
    from: ./exported
    ignore-config: [one, two]
    platform: [linux/amd64, linux/arm64]
    base-image: [node:24, linux/arm64=node-arm64:24]
    cuda-provider-sha256: ${'AB'.repeat(32)}
`;
  expect(parse(file)[0]!.values).toMatchObject({
    task: 'fill-mask',
    from: '/srv/exported',
    ignoreConfig: ['one', 'two'],
    platform: ['linux/amd64', 'linux/arm64'],
    baseImage: { any: 'node:24', 'linux/arm64': 'node-arm64:24' },
    cudaProviderSha256: 'ab'.repeat(32),
  });
});

test('every option of build but those of output can be written', () => {
  for (const option of options) {
    const [said] = refusal(`models: [{ id: a/b, ${option.name()}: {} }]`);
    expect(said).toMatch(new RegExp(`^/srv/slipway.yaml:1: models\\[0\\]\\.${option.name()}: `));
    expect(said).not.toContain('no such key');
  }
});

test.each([
  ['models: []\n', ['/srv/slipway.yaml:1: models: ']],
  ['defaults: {}\n', ['/srv/slipway.yaml:1: models: ']],
  ['', ['/srv/slipway.yaml:1: ']],
  ['models:\n  - a/b\n  - a b\n', ['/srv/slipway.yaml:3: models[1].id: expected org/name']],
  ['models:\n  - task: chat\n', ['/srv/slipway.yaml:2: models[0].id: ']],
  [
    'models:\n  - id: a/b\n    tsk: chat\ncolour: red\n',
    [
      '/srv/slipway.yaml:3: models[0].tsk: there is no such key',
      '/srv/slipway.yaml:4: colour: there is no such key',
    ],
  ],
  ['models:\n  - id: a/b\n    task: juggling\n', ['/srv/slipway.yaml:3: models[0].task: expected a task']],
  ['models:\n  - id: a/b\n    dtype: [q8]\n', ['/srv/slipway.yaml:3: models[0].dtype: expected a text']],
  [
    'models:\n  - id: a/b\n    revision: 1.0\n',
    ['/srv/slipway.yaml:3: models[0].revision: expected a text: put'],
  ],
  [
    'models:\n  - id: a/b\n    bake: yes please\n',
    ['/srv/slipway.yaml:3: models[0].bake: expected true or false'],
  ],
  ['defaults:\n  hub: nowhere\nmodels: [a/b]\n', ['/srv/slipway.yaml:2: defaults.hub: ']],
  [
    'models:\n  - a/b\n  - id: A/B\n    dtype: q8\n',
    ['/srv/slipway.yaml:3: models[1]: models[0] has this name too'],
  ],
  ['models: [a/b\n', ['/srv/slipway.yaml:']],
  ['models: [a/b]\nmodels: [a/c]\n', ['/srv/slipway.yaml:2: Map keys must be unique']],
])('%j is refused by file and line', (content, wanted) => {
  const said = refusal(content);
  expect(said).toHaveLength(wanted.length);
  for (const [i, start] of wanted.entries()) expect(said[i]).toContain(start);
});

test('two entries of one model are two images in two namespaces', () => {
  const file = 'models: [a/b, { id: a/b, dtype: q8, namespace: small }]';
  expect(parse(file).map(({ values }) => values['namespace'])).toEqual(['slipway', 'small']);
  // The command line makes them one.
  expect(() => parse(file, { namespace: 'team' })).toThrow('both would be one image');
});

test('aliases have an end, and there are no merge keys', () => {
  const small = 'models:\n  - &one { id: a/b, dtype: q8 }\n  - { <<: *one, id: a/c }\n';
  expect(() => parse(small)).toThrow('<<');
  const lists = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(9)}]`);
  expect(() => parse(`l0: &l0 [x]\n${lists.join('\n')}\n`)).toThrow('Excessive alias count');
});
