import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { LoadRequest } from '../../../../runtime/core/load-request.js';
import type { TaskId } from '../../../../runtime/core/task-ids.js';

/** A folder with a model in GGUF, and the request to load it. */
export function ggufRequest(
  content: Buffer,
  { task = 'text-generation', ...more }: Partial<Omit<LoadRequest, 'spec' | 'dir'>> & { task?: TaskId } = {},
): LoadRequest {
  const dir = mkdtempSync(join(tmpdir(), 'gguf-'));
  const path = 'model.gguf';
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), content);
  return {
    dir,
    spec: {
      ...{ specVersion: 1, id: 'org/tiny-GGUF', revision: 'main', commit: 'local-0123456789ab', task },
      ...{ engine: 'llama', profile: 'llama', dtype: 'fp32', graphs: { model: path } },
      files: [{ path, size: content.length }],
    },
    ...{ device: 'cpu', threads: 1, workers: 0, copyWeights: false, cacheBytes: 2 ** 26 },
    ...{ maxPixels: 1e6, maxSeconds: 1, ...more },
  };
}
