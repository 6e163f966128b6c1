import { join, posix } from 'node:path';
import type { RepoFile } from '../core/spec.js';
import { StoreError } from './errors.js';
import { withFileReader } from '../onnx/protobuf.js';
import { externalLocations } from './external-data.js';

/** Graphs up to this size are read while planning; larger ones after the download. */
export const PLANNED_GRAPH_BYTES = 32 * 2 ** 20;

/**
 * Checks graphs that were too large to be read while planning: if one has weights in a file that is not in the plan,
 * this is an error here instead of a crash of the engine.
 * @throws StoreError invalid
 */
export function checkLargeGraphs(dir: string, files: readonly RepoFile[]): void {
  const present = new Set(files.map(({ path }) => path));
  for (const { path, size } of files) {
    if (!path.endsWith('.onnx') || size <= PLANNED_GRAPH_BYTES) continue;
    const names = withFileReader(join(dir, ...path.split('/')), externalLocations);
    const missing = names
      .map((name) => posix.join(posix.dirname(path), name))
      .find((name) => !present.has(name));
    if (missing === undefined) continue;
    throw new StoreError(
      'invalid',
      `${path} keeps weights in ${missing}, which the plan of this model lacks`,
      {
        remedy: `give the files as a folder with --from, the weights named ${posix.basename(path)}_data`,
      },
    );
  }
}
