import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Head } from '../../../runtime/core/handles/index.js';
import { folderSource } from '../../../runtime/store/folder.js';
import { rangesOf } from '../../../runtime/store/source.js';
import { readWeightIndex, type WeightIndex } from '../../../runtime/weights/index.js';
import { graphModel } from '../../fakes/drawn-weights.js';

/** A JSON file of a checkpoint of graph-models. */
export const readNetworkFile = (name: string, file: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(graphModel(name), file), 'utf8')) as Record<string, unknown>;

/** What the graph of such a checkpoint is written from. */
export async function readNetwork(name: string): Promise<{
  config: Record<string, unknown>;
  index: WeightIndex;
  head: Head;
}> {
  const source = folderSource(graphModel(name));
  return {
    config: readNetworkFile(name, 'config.json'),
    index: await readWeightIndex(rangesOf(source, await source.info('graph/model'))),
    head: readNetworkFile(name, 'cases.json')['head'] as Head,
  };
}
