import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeGraphs } from '../../../runtime/models/write-graphs.js';
import { readGraphBytes } from '../../../runtime/onnx/graph.js';
import { folderSource } from '../../../runtime/store/folder.js';
import { rangesOf } from '../../../runtime/store/source.js';
import { readWeightIndex } from '../../../runtime/weights/index.js';
import { graphModel } from '../../fakes/drawn-weights.js';

// ONNX Runtime compares every tensor with all before it of another size: 1536 experts took eight minutes to open, not 20 s.
test.each(['mixtral', 'qwen3-moe', 'deepseek-v3', 'granite-moe'])(
  'tensors of %s that have as many rows as an expert has tokens lie in branches',
  async (name) => {
    const dir = graphModel(name);
    const source = folderSource(dir);
    const index = await readWeightIndex(rangesOf(source, await source.info('zoo/m')));
    const config = JSON.parse(await readFile(join(dir, 'config.json'), 'utf8')) as Record<string, unknown>;
    const { graphs } = writeGraphs({ config, index, head: 'causal-lm' });
    const operators = readGraphBytes(graphs['model']!).nodes.map(({ op }) => op);
    expect(operators.filter((op) => op === 'If').length).toBeGreaterThanOrEqual(4);
    expect(operators.filter((op) => ['NonZero', 'GatherND', 'ScatterND'].includes(op))).toEqual([]);
  },
);
