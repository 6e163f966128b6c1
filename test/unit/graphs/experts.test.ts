import { chosenFeedForward, softmaxChoices } from '../../../runtime/models/layers/moe.js';
import { writeGraphs } from '../../../runtime/models/write-graphs.js';
import type { GraphBudget } from '../../../runtime/models/writer/budget.js';
import { createGraphWriter } from '../../../runtime/models/writer/graph-writer.js';
import { inPlace } from '../../../runtime/models/writer/storage.js';
import { readGraphBytes } from '../../../runtime/onnx/graph.js';
import { folderSource } from '../../../runtime/store/folder.js';
import { rangesOf } from '../../../runtime/store/source.js';
import { readWeightIndex } from '../../../runtime/weights/index.js';
import { graphModel } from '../../fakes/drawn-weights.js';
import { everyTensor } from '../../fakes/every-tensor.js';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

// ONNX Runtime compares every tensor with all before it of another size: 1536 experts took eight minutes to open, not 20 s.
test.each(['mixtral', 'qwen3-moe', 'deepseek-v3', 'granite-moe'])(
  'tensors of %s that have as many rows as an expert has tokens lie in branches',
  async (name) => {
    const dir = graphModel(name);
    const source = folderSource(dir);
    const index = await readWeightIndex(rangesOf(source, await source.info('zoo/m')));
    const config = JSON.parse(await readFile(join(dir, 'config.json'), 'utf8')) as Record<string, unknown>;
    const { graphs } = writeGraphs({ config, index, head: 'causal-lm' });
    const { nodes } = readGraphBytes(graphs['model']!);
    expect(nodes.filter(({ op }) => op === 'If').length).toBeGreaterThanOrEqual(3);
    const products = nodes.filter(({ op }) => op === 'FusedMatMul').flatMap(({ inputs }) => inputs);
    expect(products.filter((name) => /experts?\./.test(name))).toEqual([]);
  },
);

/** Nodes of a layer with so many experts. */
function nodesOf(experts: number): number {
  let nodes = 0;
  const budget: GraphBudget = { node: () => nodes++, bytes: () => undefined };
  const g = createGraphWriter(everyTensor, inPlace, budget);
  const x = g.input('x', 'float32', ['rows', 'tokens', 16]);
  const size = { width: 16, experts, chosen: 2 };
  chosenFeedForward(g, x, (name) => `mlp.${name}`, {
    ...{ width: 16, inner: 8, act: 'silu' },
    choose: (tokens) => softmaxChoices(g, tokens, 'mlp.gate', size),
  });
  return nodes;
}

test('an expert has three nodes of its own, one for each of its matrices: graphs of thousands can be opened', () => {
  expect(nodesOf(512) - nodesOf(256)).toBe(3 * 256);
  expect(nodesOf(512)).toBeLessThan(3 * 512 + 100);
});
