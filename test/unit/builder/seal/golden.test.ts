import { TASK_IDS } from '../../../../runtime/core/task-ids.js';
import { formatGolden, type Golden, goldenRequest, parseGolden } from '../../../../builder/seal/golden.js';
import { noticeFiles } from '../../../../builder/seal/notices.js';
import { runnableExample } from '../../../../runtime/tasks/example.js';
import { taskOf } from '../../../../runtime/tasks/registry.js';

test.each(TASK_IDS)('%s: its golden request is one that the task takes', (id) => {
  const task = taskOf(id);
  const request = goldenRequest(id, runnableExample(task));
  expect(task.input.safeParse(request).error).toBeUndefined();
});

test('what is generated is short and drawn by no chance; the model’s own example stays', () => {
  expect(goldenRequest('text-generation', { text: 'x', params: { top_p: 0.5 } })).toEqual({
    text: 'x',
    params: { top_p: 0.5, do_sample: false, max_new_tokens: 16, seed: 0 },
  });
});

test('a record survives being written and read', () => {
  const record: Golden = {
    version: 1,
    request: { text: 'x' },
    response: { status: 200, contentType: 'application/json', body: { error: null, output: [0.5] } },
    sha256: 'c'.repeat(64),
    recordedOn: { platform: 'linux/amd64', cpu: 'some' },
  };
  expect(parseGolden(formatGolden(record))).toEqual(record);
  expect(() => parseGolden(JSON.stringify({ ...record, sha256: 'no' }))).toThrow();
});

test('licence texts and the model card travel with the weights', () => {
  const names = [
    'LICENSE',
    'LICENSE.txt',
    'LICENCE-MODEL',
    'License_Agreement.pdf',
    'NOTICE',
    'README.md',
    'USE_POLICY.md',
  ];
  const others = [
    'config.json',
    'docs/LICENSE',
    'licenses.py.bak/x',
    'readme_pictures.png/x',
    'relicense.txt',
    'model.onnx',
  ];
  const files = [...names, ...others].map((path) => ({ path, size: 1 }));
  expect(noticeFiles(files).map(({ path }) => path)).toEqual(names);
  expect(noticeFiles([{ path: 'README.md', size: 6e6 }])).toEqual([]);
});
