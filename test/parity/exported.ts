import { copyFile, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Exported, restsOf, withExport } from '../../builder/export/make-export.js';
import type { ToExport } from '../../builder/export/plan-export.js';
import { PINNED } from '../../builder/export/versions.js';
import { planModel } from '../../builder/plan/index.js';
import type { ModelSpec } from '../../runtime/core/spec.js';
import { folderSource } from '../../runtime/store/folder.js';
import type { ZooModel } from './zoo.js';

export const ROOT = join(import.meta.dirname, '../..');

export interface PlannedExport {
  spec: ModelSpec;
  toExport: ToExport;
  /** Files of the plan, alone in a folder. */
  dir: string;
}

/** The plan of a repository that no graph can be written for. */
export async function plannedExport({ repo, task, about }: ZooModel): Promise<PlannedExport> {
  const { spec, toExport } = await planModel({
    ...{ source: folderSource(repo), id: about.id, task },
    exports: { choice: 'force', versions: PINNED },
  });
  const dir = await mkdtemp(join(tmpdir(), 'exported-'));
  for (const { path } of spec.files) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await copyFile(join(repo, path), join(dir, path));
  }
  return { spec, toExport: toExport!, dir };
}

/** The same with its graph. */
export async function withGraph(
  { spec, dir }: PlannedExport,
  exported: Exported,
  restFrom: string,
): Promise<{ spec: ModelSpec; dir: string }> {
  for (const { path } of restsOf(exported)) await copyFile(join(restFrom, path), join(dir, path));
  return { spec: withExport(spec, exported), dir };
}
