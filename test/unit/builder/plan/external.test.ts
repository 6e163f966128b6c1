import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { planModel } from '../../../../builder/plan/index.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import { folderWith } from '../../store/folders.js';
import { files, graphReferring, plan } from './models.js';

describe('external weights', () => {
  test('are found under any name that the graph gives', async () => {
    const content = {
      ...files,
      'onnx/model.onnx': graphReferring('shards/w.1'),
      'onnx/shards/w.1': 'x',
      'onnx/model.onnx_data': 'stale',
    };
    const { spec } = await plan(content);
    expect(spec.files.map(({ path }) => path)).toEqual([
      'config.json',
      'onnx/model.onnx',
      'onnx/shards/w.1',
      'tokenizer.json',
    ]);
  });

  test('are not taken when the graph needs none', async () => {
    const { spec } = await plan({ ...files, 'onnx/model.onnx_data': 'stale' });
    expect(spec.files.map(({ path }) => path)).not.toContain('onnx/model.onnx_data');
  });

  test('of a large graph are taken by name, and the graph is left where it is', async () => {
    const dir = folderWith({ ...files, 'onnx/model.onnx_data': 'weights' });
    writeFileSync(join(dir, 'onnx/model.onnx'), Buffer.alloc(33 * 2 ** 20));
    const source = folderSource(dir);
    const opened: string[] = [];
    const watched = {
      ...source,
      open: (...args: Parameters<typeof source.open>) => (opened.push(args[1].path), source.open(...args)),
    };
    const { spec } = await planModel({ source: watched, id: 'org/m' });
    expect(spec.files.map(({ path }) => path)).toContain('onnx/model.onnx_data');
    expect(opened).toEqual([]);
  });
});
