import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsePythonJson } from '../../../runtime/core/python-json.js';
import { localFiles, readPart, readWeightIndex, type WeightIndex } from '../../../runtime/weights/index.js';
import { graphModel } from '../../fakes/drawn-weights.js';
import type { ModelTensor } from './from-model.js';

type Json = Record<string, unknown>;

export interface DrawnCheckpoint {
  config: Json;
  index: WeightIndex;
  /** Of its files, for reading alone. */
  dir: string;
  tensors: Map<string, ModelTensor>;
}

/**
 * A checkpoint of test/fixtures/graph-models with its tensors.
 * @param changed over fields of config.json
 */
export const drawnCheckpoint = (name: string, changed: Json = {}): Promise<DrawnCheckpoint> =>
  checkpointIn(graphModel(name), changed);

/** The same of any folder. */
export async function checkpointIn(dir: string, changed: Json = {}): Promise<DrawnCheckpoint> {
  const text = readFileSync(join(dir, 'config.json'), 'utf8');
  const config = { ...(parsePythonJson(text) as Json), ...changed };
  const index = await readWeightIndex(await localFiles(dir));
  const tensors = new Map<string, ModelTensor>();
  for (const [own, { file, offset, length, type, shape }] of index)
    tensors.set(own, { type, shape, bytes: await readPart(join(dir, file), offset, length) });
  return { config, index, dir, tensors };
}
