import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { Argument, type Command } from 'commander';
import { isModelId } from '../../runtime/core/ids.js';
import { NAME_KINDS, type NameKind } from '../completion/tree.js';
import type { CommandDeps } from '../deps.js';
import type { Docker } from '../docker/docker.js';
import { LABEL } from '../images/labels.js';

/** `builder names`, which scripts of shells ask: what there is on this machine, a name in each line. */
export function namesCommand(program: Command, deps: CommandDeps): void {
  program
    .command('names', { hidden: true })
    .description('Print the names of models in the cache, of model images, of containers')
    .addArgument(new Argument('<kinds...>', 'which').choices(NAME_KINDS))
    .action(async (kinds: NameKind[]) => {
      const found = await Promise.all(kinds.map((kind) => NAMES[kind](deps).catch(() => [])));
      const names = [...new Set(found.flat())].sort();
      if (names.length > 0) deps.stdout.write(`${names.join('\n')}\n`);
    });
}

/** Whoever presses a key waits for no engine that is not there: a failure has no names. */
const NAMES: Readonly<Record<NameKind, (deps: CommandDeps) => Promise<string[]>>> = {
  models: ({ config }) => cachedModels(path.join(config.cache, 'models')),
  images: ({ docker }) => modelImages(docker),
  containers: async ({ docker }) =>
    (await docker.made.list()).flatMap(({ name, image }) => [name, withoutLatest(image)]),
};

/** Models whose files are in the cache, wholly or in part. */
async function cachedModels(folder: string): Promise<string[]> {
  const all = await Promise.all(
    (await foldersIn(folder)).map(async (org) =>
      (await foldersIn(path.join(folder, org))).map((name) => `${org}/${name}`),
    ),
  );
  return all.flat().filter(isModelId);
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

async function modelImages(docker: Docker): Promise<string[]> {
  const images = await docker.listImages(LABEL.model);
  return images.flatMap(({ references }) => references.map(withoutLatest));
}

/** Commands take names without the tag `latest`, as Docker does. */
const withoutLatest = (reference: string): string => reference.replace(/:latest$/, '');
