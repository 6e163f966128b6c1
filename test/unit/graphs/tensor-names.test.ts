import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Head } from '../../../runtime/core/handles/index.js';
import { GraphError } from '../../../runtime/models/writer/errors.js';
import { writeGraphs } from '../../../runtime/models/write-graphs.js';
import type { StoredTensor, WeightIndex } from '../../../runtime/weights/index.js';

interface Network {
  head: Head;
  config: Record<string, unknown>;
  tensors: Record<string, number[]>;
}

const FILE = join(import.meta.dirname, '../../fixtures/graph-names.json');
const networks = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Network>;

/** A checkpoint of which only names and shapes count. */
const indexOf = (tensors: Network['tensors']): WeightIndex =>
  new Map(
    Object.entries(tensors).map(([name, shape]): [string, StoredTensor] => [
      name,
      { type: 'F32', shape, file: 'model.safetensors', offset: 0, length: 4 },
    ]),
  );

test.each(Object.keys(networks))('the graph of %s reads every tensor that Python has', (name) => {
  const { head, config, tensors } = networks[name]!;
  const { used } = writeGraphs({ head, config, index: indexOf(tensors) });
  expect([...used].sort()).toEqual(Object.keys(tensors).sort());
});

test('a backbone of which nothing is known is refused by its name', () => {
  const { head, config, tensors } = networks['detr-resnet50']!;
  const index = indexOf(tensors);
  const write = (changes: Record<string, unknown>) => () =>
    writeGraphs({ head, config: { ...config, ...changes }, index });
  expect(write({ backbone: 'swin_tiny' })).toThrow(
    new GraphError('config.json: the backbone swin_tiny of timm is not known'),
  );
  expect(write({ dilation: true })).toThrow('dilated backbones are not known');
  expect(write({ backbone_kwargs: { output_stride: 8 } })).toThrow(GraphError);
  expect(write({ use_timm_backbone: false })).toThrow('config.json: backbone_config is missing');
});
