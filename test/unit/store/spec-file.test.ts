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
  ['a graph that is not among the files', { graphs: { model: 'other.onnx' } }, /graphs: names a file/],
])('%s is refused', (_name, change, message) => {
  const text = JSON.stringify({ ...spec, ...change });
  expect(() => parseSpec(text)).toThrow(message);
  expect(() => parseSpec(text)).toThrow(/write it again with builder plan/);
});

test('no JSON', () => {
  expect(() => parseSpec('{')).toThrow('model.json is not valid JSON; write it again');
});

test('a local commit', () => {
  expect(parseSpec(JSON.stringify({ ...spec, commit: 'local-0123456789ab' })).commit).toBe(
    'local-0123456789ab',
  );
});
