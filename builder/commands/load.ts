import path from 'node:path';
import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import { countBytes } from '../archive/streams.js';
import { type CommandDeps, reportOf } from '../deps.js';
import { addOutputOptions, type OutputFlags } from '../options.js';
import { megabytes } from '../report.js';
import { checkChecksum } from '../transfer/checksum.js';
import { findLayers } from '../transfer/find-layers.js';
import { checkArchive, type CheckedArchive, confirmLoaded, recompose } from '../transfer/load.js';
import { fileArchive } from '../transfer/sources.js';

type LoadFlags = OutputFlags & { checksum: boolean };

const NOTES = `
Checks <file>.sha256, then every layer, before the engine gets anything. Layers that a delta lacks are taken from the
images that are there; what is missing is said by name.

Examples:
  builder load model.tar.gz
  builder load update.tar.gz --json`;

/** `builder load`: a file of `builder export` or `docker save` into the engine; prints the names of the images. */
export function loadCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('load')
    .description('Load an exported image, complete or a delta, into the Docker Engine')
    .argument('<file>', 'what "builder export" or "docker save" wrote')
    .option('--no-checksum', 'do not look for <file>.sha256; layers are checked all the same')
    .addHelpText('after', NOTES);
  addOutputOptions(command).action((file: string, flags: LoadFlags) =>
    loadFile(path.resolve(file), flags, deps),
  );
}

async function loadFile(file: string, flags: LoadFlags, deps: CommandDeps): Promise<void> {
  const report = reportOf(deps, flags);
  const { docker } = deps;
  await docker.info();
  const source = fileArchive(file);
  if (flags.checksum)
    await report.step('Check the checksum', (say) => checkChecksum(file, (done) => say(megabytes(done))));
  const archive = await report.step('Check the layers', () => checkArchive(source));
  const bases = archive.delta ? await findLayers(docker, archive.delta) : [];
  await report.step(`Load ${source.name}`, async (say) => {
    const tar = await tarOf(archive, bases, deps);
    await docker.loadImages(
      countBytes(tar, (done) => say(megabytes(done))),
      () => undefined,
    );
  });
  const loaded = [];
  for (const image of archive.images)
    loaded.push({ names: image.names, id: await confirmLoaded(docker, image), platform: image.platform });
  const lines = loaded.flatMap(({ names, id }) => (names.length > 0 ? names : [id]));
  report.result(lines.join('\n'), { images: loaded, delta: archive.delta !== undefined });
}

/** A complete export goes to the engine as it is. */
async function tarOf(archive: CheckedArchive, bases: string[], { docker }: CommandDeps): Promise<Readable> {
  const { delta, source } = archive;
  return delta ? recompose(docker, archive, { names: delta.image.names, bases }) : source.open();
}
