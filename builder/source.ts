import { folderSource } from '../runtime/store/folder.js';
import { hubSource } from '../runtime/store/hub.js';
import type { ModelSource } from '../runtime/store/source.js';
import type { CommandDeps } from './deps.js';
import type { SourceFlags } from './options.js';
import { type ModelPlan, planModel } from './plan/index.js';
import type { Report } from './report.js';

export interface DecideOptions {
  id: string;
  flags: SourceFlags;
  report: Report;
}

/** Reads the repository's listing and small files and chooses task, engine, weight format and files. */
export async function decideModel(
  { id, flags, report }: DecideOptions,
  deps: CommandDeps,
): Promise<ModelPlan> {
  const { source, name } = sourceOf(flags, deps);
  const { revision, task, dtype } = flags;
  return report.step(`Read ${id} from ${name}`, () => planModel({ id, revision, task, dtype, source }));
}

export function sourceOf(
  { from, hub }: SourceFlags,
  { config }: CommandDeps,
): { source: ModelSource; name: string } {
  if (from !== undefined) return { source: folderSource(from), name: from };
  const endpoint = hub ?? config.endpoint;
  return { source: hubSource({ endpoint, token: config.token() }), name: endpoint };
}

export function cacheOf(flags: SourceFlags, { config }: CommandDeps): string {
  return flags.cache ?? config.cache;
}
