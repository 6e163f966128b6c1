import type { ModelSpec } from '../../../runtime/core/spec.js';
import { formatSpec, parseSpec } from '../../../runtime/store/spec-file.js';

const spec: ModelSpec = {
  specVersion: 1,
  id: 'org/name',
  revision: 'main',
  commit: 'a'.repeat(40),
  task: 'text-classification',
  engine: 'transformers',
  profile: 'text',
  dtype: 'fp32',
  architecture: 'BertForSequenceClassification',
  graphs: { model: 'onnx/model.onnx' },
  files: [
    { path: 'config.json', size: 10, gitOid: 'c'.repeat(40) },
    { path: 'onnx/model.onnx', size: 20, sha256: 'd'.repeat(64) },
  ],
};

test('round trip', () => {
  expect(parseSpec(formatSpec(spec))).toEqual(spec);
});

test('the same spec gives the same bytes, whatever the order of its keys and files', () => {
  const shuffled = Object.fromEntries(Object.entries(spec).toReversed()) as unknown as ModelSpec;
  expect(formatSpec({ ...shuffled, files: spec.files.toReversed() })).toBe(formatSpec(spec));
  expect(formatSpec(spec).startsWith('{\n  "specVersion": 1,\n  "id": "org/name"')).toBe(true);
});

test.each<[string, Partial<Record<keyof ModelSpec, unknown>>, RegExp]>([
  ['another version', { specVersion: 2 }, /model\.json: specVersion/],
  ['an id with a path trick', { id: '../x' }, /id: is not a model id/],
  ['a branch as commit', { commit: 'main' }, /commit: is not a commit/],
  ['an unknown task', { task: 'juggling' }, /task/],
  [
    'a path that leaves the folder',
    { files: [{ path: '../x', size: 1 }] },
    /files\.0\.path: is not a path inside/,
  ],
  ['an absolute path', { files: [{ path: '/x', size: 1 }] }, /files\.0\.path/],
  [
    'a hash that is none',
    { files: [{ path: 'x', size: 1, sha256: 'zz' }] },
    /files\.0\.sha256: is not a SHA-256/,
  ],
  ['a negative size', { files: [{ path: 'x', size: -1 }] }, /files\.0\.size/],
  ['a way of reading that this version does not know', { readers: { audio: 'humming' } }, /readers\.audio/],
  ['a reader of something unknown', { readers: { smell: 'x' } }, /readers: .*smell/],
  ['a prompt of an unknown kind', { readers: { prompts: { smell: 'x' } } }, /readers\.prompts: .*smell/],
  ['readers by number', { readers: { processor: 7 } }, /readers\.processor/],
  ['a reader with a path', { readers: { processor: '../x' } }, /readers\.processor: is not a name/],
  ['no readers', { readers: null }, /readers/],
  ['a graph that is not among the files', { graphs: { model: 'other.onnx' } }, /graphs: names a file/],
])('%s is refused', (_name, change, message) => {
  const text = JSON.stringify({ ...spec, ...change });
  expect(() => parseSpec(text)).toThrow(message);
  expect(() => parseSpec(text)).toThrow(/write it again with builder plan/);
});

test('no JSON', () => {
  expect(() => parseSpec('{')).toThrow('model.json is not valid JSON; write it again');
});

test('readers are written in one order; a file of an older builder has none', () => {
  const { readers } = parseSpec(JSON.stringify({ ...spec, readers: { audio: 'vits', processor: 'Bit' } }));
  expect(JSON.stringify(readers)).toBe('{"processor":"Bit","audio":"vits"}');
  expect(parseSpec(JSON.stringify(spec))).not.toHaveProperty('readers');
});

test('a local commit', () => {
  expect(parseSpec(JSON.stringify({ ...spec, commit: 'local-0123456789ab' })).commit).toBe(
    'local-0123456789ab',
  );
});

describe('graphs that the builder wrote', () => {
  const graph = { path: 'graphs/model.onnx', size: 3, sha256: 'e'.repeat(64), content: 'AAEC' };
  const files = [{ path: 'model.safetensors', size: 20, sha256: 'd'.repeat(64) }];
  const own: ModelSpec = { ...spec, graphs: { model: graph.path }, files, written: [graph] };
  const withGraph = (change: object) => JSON.stringify({ ...own, written: [{ ...graph, ...change }] });

  test('round trip', () => {
    expect(parseSpec(formatSpec(own))).toEqual(own);
    expect(formatSpec(parseSpec(formatSpec(own)))).toBe(formatSpec(own));
  });

  test('a graph of a role is one of the files or one that was written', () => {
    expect(() => parseSpec(JSON.stringify({ ...own, written: undefined }))).toThrow('graphs: names a file');
    expect(() => parseSpec(withGraph({ path: 'graphs/other.onnx' }))).toThrow('graphs: names a file');
  });

  test.each<[string, object, RegExp]>([
    ['a path that leaves the folder', { path: '../model.onnx' }, /written\.0\.path: is not a path inside/],
    ['no bytes', { size: 0 }, /written\.0\.size/],
    ['more bytes than graphs have', { size: 2 ** 26 + 1 }, /written\.0\.size/],
    ['a hash that is none', { sha256: 'E'.repeat(64) }, /written\.0\.sha256: is not a SHA-256/],
    ['no hash', { sha256: undefined }, /written\.0\.sha256/],
    ['content that is no base64', { content: 'A*EC' }, /written\.0\.content/],
    ['content in the letters of URLs', { content: 'AA-_' }, /written\.0\.content/],
    ['content that is cut off', { content: 'AAE' }, /written\.0\.content/],
    ['bytes for content', { content: [0, 1, 2] }, /written\.0\.content/],
  ])('%s', (_name, change, message) => {
    expect(() => parseSpec(withGraph(change))).toThrow(message);
  });

  test('an empty list is none', () => {
    expect(() => parseSpec(JSON.stringify({ ...spec, written: [] }))).toThrow(/model\.json: written/);
  });
});
