import { copyFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { buildPackedFile } from '../../../../../builder/pack/build-packed-file.js';
import { writeOwnGraphs } from '../../../../../builder/plan/own-graphs.js';
import type { Head } from '../../../../../runtime/core/handles/index.js';
import type { LoadRequest } from '../../../../../runtime/core/load-request.js';
import { parsePythonJson } from '../../../../../runtime/core/python-json.js';
import type { ModelSpec } from '../../../../../runtime/core/spec.js';
import { folderSource } from '../../../../../runtime/store/folder.js';
import { graphModel } from '../../../../fakes/drawn-weights.js';

export interface OwnModel {
  request: LoadRequest;
  config: Record<string, unknown>;
}

interface OwnOptions {
  /** Which of the fixtures. */
  name: string;
  head: Head;
  task: ModelSpec['task'];
  bits?: 4 | 8 | undefined;
}

/** Graphs of ours over a checkpoint, or over weights of so many bits, which are made in the folder. */
export async function ownModel(folder: string, { name, head, task, bits }: OwnOptions): Promise<OwnModel> {
  const repo = graphModel(name);
  const config = parsePythonJson(await readFile(path.join(repo, 'config.json'), 'utf8'));
  const source = folderSource(repo);
  const info = await source.info('zoo/m');
  const modelType = config['model_type'] as string;
  const own = await writeOwnGraphs({ source, info, head, modelType, bits });
  if (!('graphs' in own)) throw new Error(own.problem);
  if (own.packedWeights)
    await buildPackedFile(path.join(folder, own.files[0]!.path), {
      from: repo,
      recipe: own.packedWeights.recipe,
    });
  else for (const file of own.files) await copyFile(path.join(repo, file.path), path.join(folder, file.path));
  const spec: ModelSpec = {
    ...{ specVersion: 1, id: 'zoo/m', revision: 'main', commit: '0'.repeat(40), task },
    ...{ engine: 'generation', profile: 'text', dtype: own.dtype },
    ...{ graphs: own.graphs, files: own.files, written: own.written },
  };
  const request: LoadRequest = {
    ...{ spec, dir: folder, device: 'cpu', threads: 1, workers: 0, copyWeights: false },
    ...{ cacheBytes: 2 ** 26, maxPixels: 1, maxSeconds: 1 },
  };
  return { request, config };
}

export const best = (scores: Float32Array): number => scores.indexOf(Math.max(...scores));
