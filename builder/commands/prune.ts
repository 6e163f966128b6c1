import type { Command } from 'commander';
import { type CommandDeps, reportOf } from '../deps.js';
import type { Docker, ImageSummary } from '../docker/docker.js';
import { TEMPORARY_LABEL, type MadeContainer } from '../docker/made.js';
import { BuilderError } from '../exit.js';
import { LABEL } from '../images/labels.js';
import { addOutputOptions, type OutputFlags } from '../options.js';
import { isOurs } from '../own/own.js';
import { megabytes } from '../report.js';
import { columns } from '../table.js';

type PruneFlags = OutputFlags & { force?: boolean; runtimes?: boolean };

const NOTES = `
Without --force it prints what would go, and changes nothing. What goes:

  containers  that builder has started and that have ended, and those that a killed builder left running a day ago
  images      that builder has made and that have lost their names to a newer build, unless a container is of them
  runtimes    with --runtimes: runtime images that no model image here is made of; the next build makes them again

Models' images with a name stay ("builder rm" removes them), as does the cache of downloads.

Examples:
  builder prune
  builder prune --runtimes --force`;

/** `builder prune`: takes away what builder has left behind. */
export function pruneCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('prune')
    .description('Remove ended containers and unused images that builder has made')
    .option('--force', 'do it; without, it is only printed')
    .option('--runtimes', 'also runtime images that no model image is made of')
    .addHelpText('after', NOTES);
  addOutputOptions(command).action((flags: PruneFlags) => prune(flags, deps));
}

interface Unused {
  kind: 'container' | 'image';
  name: string;
  id: string;
  bytes: number;
}

async function prune({ force = false, ...flags }: PruneFlags, deps: CommandDeps): Promise<void> {
  const report = reportOf(deps, flags);
  const { docker } = deps;
  const found = [
    ...(await unusedContainers(docker)),
    ...(await unusedImages(docker, flags.runtimes ?? false)),
  ];
  const kept: { name: string; reason: string }[] = [];
  const removed: Unused[] = [];
  for (const unused of force ? found : []) {
    try {
      await remove(docker, unused);
      removed.push(unused);
    } catch (error) {
      // Another program may have begun to use it: the rest goes all the same.
      if (!(error instanceof BuilderError) || error.exit !== 'failure') throw error;
      kept.push({ name: unused.name, reason: error.message });
    }
  }
  for (const { name, reason } of kept) report.note(`${name} stays: ${reason}`);
  const told = force ? removed : found;
  const rows = told.map(({ kind, name, bytes }) => [kind, name, bytes === 0 ? '' : megabytes(bytes)]);
  if (!force && found.length > 0) report.note('nothing is removed without --force');
  report.result(rows.length === 0 ? 'nothing to remove' : columns([['KIND', 'NAME', 'SIZE'], ...rows]), {
    removed: force,
    found: told,
    kept,
  });
}

async function remove({ made, removeImage }: Docker, { kind, name, id }: Unused): Promise<void> {
  if (kind === 'image') return removeImage(name);
  await made.stop(id, 0);
  await made.remove(id);
}

/** A command takes less than this for its container. */
const LEFT_BEHIND_SECONDS = 24 * 60 * 60;

async function unusedContainers({ made }: Docker): Promise<Unused[]> {
  const isUnused = ({ state, labels, created }: MadeContainer) =>
    ['exited', 'dead'].includes(state) ||
    (labels[TEMPORARY_LABEL] === 'true' && Date.now() / 1000 - created > LEFT_BEHIND_SECONDS);
  return (await made.list())
    .filter(isUnused)
    .map(({ id, name }) => ({ kind: 'container', id, name, bytes: 0 }));
}

async function unusedImages(docker: Docker, runtimes: boolean): Promise<Unused[]> {
  const used = await docker.made.imagesInUse();
  const images = await docker.listImages();
  const candidates = [
    ...images.filter(({ references }) => references.length === 0),
    ...(runtimes ? await unusedRuntimes(docker, images) : []),
  ];
  const unused: Unused[] = [];
  for (const image of candidates) {
    if (used.has(image.id) || !(await isOurs(docker, image))) continue;
    const names = image.references.length > 0 ? image.references : [image.id];
    unused.push(...names.map((name): Unused => ({ kind: 'image', name, id: image.id, bytes: image.size })));
  }
  return unused;
}

/** Runtime images whose layers no other image begins with, whoever has made it. */
async function unusedRuntimes(docker: Docker, images: readonly ImageSummary[]): Promise<ImageSummary[]> {
  const isRuntime = ({ labels }: ImageSummary) =>
    labels[LABEL.runtime] !== undefined && labels[LABEL.model] === undefined;
  const layersOf = async ({ id }: ImageSummary) => (await docker.inspectImage(id))?.layers.join() ?? '';
  const others = await Promise.all(images.filter((image) => !isRuntime(image)).map(layersOf));
  const unused: ImageSummary[] = [];
  for (const runtime of images.filter((image) => isRuntime(image) && image.references.length > 0)) {
    const layers = await layersOf(runtime);
    if (layers !== '' && !others.some((other) => other.startsWith(layers))) unused.push(runtime);
  }
  return unused;
}
