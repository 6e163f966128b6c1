import { chmod, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '../../runtime/store/make-folder.js';
import type { Docker } from '../docker/docker.js';
import { BuilderError } from '../exit.js';
import { LABEL } from './labels.js';
import type { BuildPlan, ModelContext } from './model-plan.js';
import { type ContextEntry, FIXED_MTIME, tarStream } from './tar.js';

/** Folder of a model's build files in `--out`. */
export function contextFolder(out: string, plan: BuildPlan): string {
  return path.resolve(out, ...plan.image.repository.split('/'), plan.variant ?? '');
}

/** Folder for the graphs that model.json carries, as files: for viewers such as Netron, and for comparing. */
const GRAPHS = 'graphs';

/** What the build folder is written from. */
export interface FolderContent {
  plan: BuildPlan;
  context: ModelContext;
  readme: string;
}

/** Writes the build folder of a model, for reading, review and `docker build` by hand. */
export async function writeContext(folder: string, { plan, context, readme }: FolderContent): Promise<void> {
  await rm(path.join(folder, GRAPHS), { recursive: true, force: true });
  const graphs = (plan.spec.written ?? []).map(
    (graph) => [graph.path, Buffer.from(graph.content, 'base64')] as const,
  );
  await writeFiles(folder, { ...context.files, 'README.md': readme, ...Object.fromEntries(graphs) });
}

/** Writes files, by their paths in the folder, as they would be in a streamed context. */
export async function writeFiles(folder: string, files: Record<string, string | Uint8Array>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    await makeFolder(path.dirname(file));
    await writeFile(file, content);
    // The same mode as in a streamed context, so that `docker build` gives the same layers.
    await chmod(file, 0o644);
    await utimes(file, FIXED_MTIME, FIXED_MTIME);
  }
}

export interface ModelBuild {
  plan: BuildPlan;
  context: ModelContext;
  /** Members under `weights/`; empty unless the weights go into the image. */
  weights: readonly ContextEntry[];
}

export interface ModelBuildDeps {
  docker: Docker;
  onLine: (line: string) => void;
}

/**
 * Builds and tags the image, unless the image of that name was built from the same inputs.
 * @throws BuilderError with the engine's message, or when the name belongs to another model's image
 */
export async function ensureModelImage(
  { plan, context, weights }: ModelBuild,
  { docker, onLine }: ModelBuildDeps,
) {
  const [latest, ...others] = plan.image.references;
  const existing = await docker.inspectImage(latest!);
  if (existing) refuseForeign(existing.labels[LABEL.model], plan);
  if (existing?.labels[LABEL.build] === context.digest) {
    for (const reference of others) await docker.tagImage(existing.id, reference);
    return { built: false, ...existing };
  }
  const files = Object.entries(context.files).map(([name, text]) => ({ path: name, content: text }));
  const { platform } = await docker.info();
  await docker.buildImage(
    tarStream([...files, ...weights]),
    { references: plan.image.references, ...(platform === plan.platform ? {} : { platform: plan.platform }) },
    onLine,
  );
  return { built: true, ...(await docker.inspectImage(latest!))! };
}

/** Different ids may give one image name: `a/b_c`, `a_b/c` and `A/b_c`. */
export function refuseForeign(owner: string | undefined, { spec, image }: BuildPlan): void {
  if (owner === undefined || owner === spec.id) return;
  const message = `${image.repository} is the image of ${owner}; give ${spec.id} another --namespace, or remove that image`;
  throw new BuilderError('failure', message);
}
