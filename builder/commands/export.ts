import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { Delta } from '../archive/delta.js';
import { countBytes } from '../archive/streams.js';
import { type CommandDeps, reportOf } from '../deps.js';
import type { Docker, ImageDetails } from '../docker/docker.js';
import { BuilderError } from '../exit.js';
import { addOutputOptions, parseImageReference, type OutputFlags } from '../options.js';
import { megabytes, type Report } from '../report.js';
import { BUNDLE_SUFFIX } from '../sign/bundle.js';
import { readBundle, signatureFile, writeBundle } from '../sign/store.js';
import { exportDelta, findBase } from '../transfer/export-delta.js';
import { exportFull } from '../transfer/export-full.js';
import { gzipBlocks } from '../transfer/gzip.js';
import { checkOutput, writeOutput, type WrittenFile } from '../transfer/output-file.js';
import { savedImage } from '../transfer/sources.js';

type ExportFlags = OutputFlags & { output: string; base?: string; force?: boolean };

const NOTES = `
Writes <file>, compressed with gzip unless the name ends with .tar, and <file>.sha256 (as sha256sum does). If "builder
snapshot --sign-key" has signed the image on this machine, also writes its signature to <file>.sigstore.json. "-o -"
writes to stdout, without these two files.
A full export loads with "docker load"; a delta needs "builder load".

Examples:
  builder export slipway/org_model:sealed -o model.tar.gz
  builder export slipway/org_model:sealed --base model.tar.gz -o update.tar.gz
  builder export slipway/org_model:sealed -o - | ssh site docker load`;

/** `builder export`: an image as a file for a machine without a network. */
export function exportCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('export')
    .description('Write an image to a file, or only what another image lacks')
    .argument('<image>', 'image of this engine', parseImageReference)
    .requiredOption('-o, --output <file>', 'file to write; - for stdout')
    .option('--base <image|file>', 'leave out the layers that this image or export has')
    .option('--force', 'replace the file if it is there')
    .addHelpText('after', NOTES);
  addOutputOptions(command).action((image: string, flags: ExportFlags) => exportImage(image, flags, deps));
}

async function exportImage(reference: string, flags: ExportFlags, deps: CommandDeps): Promise<void> {
  const report = reportOf(deps, flags);
  const { docker, stdout } = deps;
  const image = await docker.inspectImage(reference);
  if (!image)
    throw new BuilderError('failure', `there is no image ${reference}; "builder list" says which there are`);
  const toStdout = flags.output === '-';
  if (toStdout && stdout.isTTY)
    throw new BuilderError('usage', 'stdout is a terminal; give a file with -o, or a pipe');
  const content = await contentOf({ reference, image, base: flags.base }, { docker, report });
  const target = { file: path.resolve(flags.output), force: flags.force ?? false };
  if (!toStdout) await checkOutput(target, content.bytes);
  const written = await report.step(`Export ${reference}`, async (showDetail) => {
    const progress = (done: number) => showDetail(`${megabytes(done)} of about ${megabytes(content.bytes)}`);
    const open = async () => countBytes(await content.open(), progress);
    if (!toStdout) return writeOutput(open, target);
    await pipeline(await open(), gzipBlocks, stdout, { end: false });
    return undefined;
  });
  if (!written) return;
  const id = content.id() ?? image.id;
  const signature = await copySignature(signatureFile(deps.config.data, id), target.file);
  printResult(report, { file: target.file, image: reference, id, written, signature, delta: content.delta });
}

/** Copies the image's signature beside the file, or removes an old one there. */
async function copySignature(from: string, file: string): Promise<string | undefined> {
  const target = `${file}${BUNDLE_SUFFIX}`;
  const bundle = await readBundle(from);
  if (bundle !== undefined) await writeBundle(target, bundle);
  else await rm(target, { force: true });
  return bundle === undefined ? undefined : target;
}

interface Wanted {
  reference: string;
  image: ImageDetails;
  base: string | undefined;
}

interface Content {
  open(): Promise<Readable>;
  /** Hash of the image's configuration; known after the whole stream has been read. */
  id(): string | undefined;
  /** Approximate size before compression. */
  bytes: number;
  delta?: Delta;
}

async function contentOf(
  { reference, image, base }: Wanted,
  { docker, report }: { docker: Docker; report: Report },
): Promise<Content> {
  const source = savedImage(docker, reference);
  if (base === undefined) {
    let id: string | undefined;
    const open = () => exportFull(source, ([only]) => (id = only?.id));
    return { open, id: () => id, bytes: image.size };
  }
  const deltaBase = await findBase(docker, base);
  const { delta, open } = await report.step(`Compare with ${deltaBase.name}`, () =>
    exportDelta(source, deltaBase),
  );
  return {
    open: async () => open(),
    id: () => delta.image.id,
    delta,
    bytes: delta.layers.reduce((sum, { size }) => sum + size, 0),
  };
}

interface Exported {
  file: string;
  image: string;
  id: string;
  written: WrittenFile;
  /** File with the signature. */
  signature: string | undefined;
  delta: Delta | undefined;
}

function printResult(report: Report, { file, image, id, written, signature, delta }: Exported): void {
  const parts = delta && `${delta.layers.length} of ${delta.layers.length + delta.needs.length} layers`;
  const what = delta ? `${parts}; needs ${delta.base.name}` : 'complete';
  const signedNote = signature === undefined ? '' : ', signed';
  report.result(`${file} (${megabytes(written.bytes)}, ${what}${signedNote})`, {
    file,
    ...written,
    image,
    id,
    signature: signature ?? null,
    ...(delta && { base: delta.base, needs: delta.needs, layers: delta.layers }),
  });
}
