import type { Command } from 'commander';
import { type CommandDeps, reportOf } from '../deps.js';
import { BuilderError } from '../exit.js';
import { addOutputOptions, type OutputFlags } from '../options.js';
import { isMeant, isOurs } from '../own/own.js';
import { STOP_GRACE_SECONDS } from './run.js';

type RmFlags = OutputFlags & { force?: boolean; dryRun?: boolean };

const NOTES = `
A word is first looked for among the containers that builder has started (name, id, model), then among its images. An
image goes with the name that is given, and with its last name its layers. What builder has not made is refused.

Examples:
  builder rm org/model                    its containers that have ended
  builder rm slipway-1f2e3d4c --force     also while it runs: it is stopped first
  builder rm slipway/org_model:latest     the image, once no container is of it`;

/** `builder rm`: takes away containers and images that builder has made. */
export function rmCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('rm')
    .description('Remove containers and images that builder has made')
    .argument('<containers-or-images...>', 'names or ids of containers or images, or models of containers')
    .option('--force', 'stop containers that run')
    .option('--dry-run', 'print what would be removed; change nothing')
    .addHelpText('after', NOTES);
  addOutputOptions(command).action((words: string[], flags: RmFlags) => removeAll(words, flags, deps));
}

interface Removal {
  kind: 'container' | 'image';
  name: string;
  id: string;
  running: boolean;
}

async function removeAll(words: readonly string[], flags: RmFlags, deps: CommandDeps): Promise<void> {
  const { docker } = deps;
  const report = reportOf(deps, flags);
  const removals: Removal[] = [];
  // All words are understood before anything goes.
  for (const word of words) removals.push(...(await removalsOf(word, deps)));
  const running = removals.filter((each) => each.running);
  if (running.length > 0 && !flags.force) {
    const names = running.map(({ name }) => name).join(', ');
    throw new BuilderError('failure', `${names}: still running; "builder stop" first, or give --force`);
  }
  if (!flags.dryRun) {
    for (const { kind, name, id, running: runs } of removals) {
      if (runs) await report.step(`Stop ${name}`, () => docker.made.stop(id, STOP_GRACE_SECONDS));
      await (kind === 'container' ? docker.made.remove(id) : docker.removeImage(name));
    }
  }
  const told = removals.map(({ kind, name }) => ({ kind, name }));
  report.result(told.map(({ name }) => name).join('\n'), { removed: told, dryRun: flags.dryRun ?? false });
}

/** @throws BuilderError `refused` for what builder has not made, `failure` for what is not there */
async function removalsOf(word: string, { docker }: CommandDeps): Promise<Removal[]> {
  // An image's own name means the image; its containers are named otherwise.
  const containers = (await docker.made.list()).filter(
    (each) => isMeant(word, each) && each.image !== word && each.image !== `${word}:latest`,
  );
  if (containers.length > 0)
    return containers.map(({ id, name, state }) => ({
      kind: 'container',
      id,
      name,
      running: state === 'running',
    }));
  const image = await docker.inspectImage(word);
  if (!image)
    throw new BuilderError('failure', `${word} is neither a container that builder has started nor an image`);
  if (!(await isOurs(docker, image)))
    throw new BuilderError('refused', `${word} is no image that builder has made: "docker rmi" removes it`);
  return [{ kind: 'image', name: word, id: image.id, running: false }];
}
