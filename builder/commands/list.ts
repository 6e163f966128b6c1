import type { Command } from 'commander';
import { type CommandDeps, reportOf } from '../deps.js';
import type { ImageSummary } from '../docker/docker.js';
import { figuresOf, LABEL } from '../images/labels.js';
import { shortCommit } from '../images/names.js';
import { addOutputOptions, type OutputFlags } from '../options.js';
import type { Figures } from '../plan/figures.js';
import { megabytes } from '../report.js';
import { columns } from '../table.js';

/** `builder list`: lists the model images of this engine, found by their labels. */
export function listCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('list')
    .description('List the model images that the Docker Engine holds')
    .addHelpText('after', '\nExample:\n  builder list --json');
  addOutputOptions(command).action(async (flags: OutputFlags) => {
    const rows = (await deps.docker.listImages(LABEL.model)).map(rowOf);
    reportOf(deps, flags).result(
      rows.length > 0 ? table(rows) : 'no model images; make one with "builder build"',
      rows,
    );
  });
}

interface Row {
  image: string;
  model: string;
  task: string;
  dtype: string;
  device: string;
  baked: boolean;
  sealed: boolean;
  commit: string;
  bytes: number;
  /** Figures from the image's labels; null when not known. */
  parameters: number | null;
  memoryBytes: number | null;
  loadSeconds: number | null;
  figures: Figures['basis'] | null;
}

function rowOf({ id, labels, references, size }: ImageSummary): Row {
  const label = (name: string) => labels[name] ?? '';
  const figures = figuresOf(labels);
  return {
    image: references.find((reference) => /:(?:latest|sealed)$/.test(reference)) ?? references[0] ?? id,
    model: label(LABEL.model),
    task: label(LABEL.task),
    dtype: label(LABEL.dtype),
    device: label(LABEL.device),
    baked: label(LABEL.baked) === 'true',
    sealed: label(LABEL.sealed) === 'true',
    commit: label(LABEL.commit),
    bytes: size,
    parameters: figures?.parameters ?? null,
    memoryBytes: figures?.memoryBytes ?? null,
    loadSeconds: figures?.loadSeconds ?? null,
    figures: figures?.basis ?? null,
  };
}

function weightState({ baked, sealed }: Row): string {
  if (sealed) return 'sealed';
  return baked ? 'baked' : 'downloads';
}

function table(rows: Row[]): string {
  const cells = rows.map((row) => [
    row.image,
    row.task,
    row.dtype,
    row.device,
    weightState(row),
    shortCommit(row.commit),
    megabytes(row.bytes),
  ]);
  return columns([['IMAGE', 'TASK', 'DTYPE', 'DEVICE', 'WEIGHTS', 'COMMIT', 'SIZE'], ...cells]);
}
