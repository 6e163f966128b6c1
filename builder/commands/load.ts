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
Checks <file>.sha256 and every layer before anything is sent to the engine. Layers that a delta lacks are taken from
images of the engine; if one is missing, the error names it.

Examples:
  builder load model.tar.gz
  builder load update.tar.gz --json`;

/** `builder load`: loads a file of `builder export` or `docker save`; prints the names of the images. */
export function loadCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('load')
    .description('Load an exported image, complete or a delta, into the Docker Engine')
    .argument('<file>', 'file of "builder export" or "docker save"')
    .option('--no-checksum', 'do not read <file>.sha256; layers are still checked')
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
    await report.step('Check the checksum', (showDetail) =>
      checkChecksum(file, (done) => showDetail(megabytes(done))),
    );
  const archive = await report.step('Check the layers', () => checkArchive(source));
  const bases = archive.delta ? await findLayers(docker, archive.delta) : [];
  await report.step(`Load ${source.name}`, async (showDetail) => {
    const tar = await tarOf(archive, bases, deps);
    await docker.loadImages(
      countBytes(tar, (done) => showDetail(megabytes(done))),
      () => undefined,
    );
  });
  const loaded = [];
  for (const image of archive.images)
    loaded.push({ names: image.names, id: await confirmLoaded(docker, image), platform: image.platform });
  const lines = loaded.flatMap(({ names, id }) => (names.length > 0 ? names : [id]));
  report.result(lines.join('\n'), { images: loaded, delta: archive.delta !== undefined });
}

/** The tar for the engine: a complete archive unchanged, a delta completed with local layers. */
async function tarOf(archive: CheckedArchive, bases: string[], { docker }: CommandDeps): Promise<Readable> {
  const { delta, source } = archive;
  return delta ? recompose(docker, archive, { names: delta.image.names, bases }) : source.open();
}
