import type { Command } from 'commander';
import { totalBytes } from '../../runtime/core/spec.js';
import { type CommandDeps, reportOf } from '../deps.js';
import {
  addBakeOption,
  addImageOptions,
  addOutputOptions,
  addSourceOptions,
  type ImageFlags,
  modelId,
  type OutputFlags,
  type SourceFlags,
} from '../options.js';
import { buildImage, prepare, type Prepared } from '../pipeline.js';
import { megabytes } from '../report.js';
import { planText } from './plan-text.js';

type BuildFlags = SourceFlags & ImageFlags & OutputFlags & { dryRun?: boolean };

const EXAMPLES = `
Examples:
  builder build distilbert/distilbert-base-uncased-finetuned-sst-2-english
  builder build org/model --bake --json          weights inside, starts without a network
  builder build org/model --from ./exported      a local folder instead of the hub
  builder build org/model --dry-run              say what would be done, touch nothing`;

const NOT_ON_HUB =
  'no hub has the state of a local folder: mount it at /server/model when the image runs, or build with --bake';

/** `builder build`: prints the name of the image; a second build of the same inputs gives the same image. */
export function buildCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('build')
    .description('Build a container image whose server answers POST /run')
    .argument('<model>', 'id on the hub', modelId)
    .option('--dry-run', 'print what would be done and touch nothing')
    .addHelpText('after', EXAMPLES);
  addOutputOptions(addBakeOption(addImageOptions(addSourceOptions(command)))).action(
    async (id: string, flags: BuildFlags) => {
      const report = reportOf(deps, flags);
      const prepared = await prepare({ id, flags, report }, deps);
      if (flags.dryRun) return report.result(dryRunText(prepared), dryRunDocument(prepared));
      if (flags.from !== undefined && !flags.bake) report.note(NOT_ON_HUB);
      const result = await buildImage(prepared, { id, flags, report }, deps);
      const { spec, baked } = prepared.plan;
      report.result(result.image, { ...result, model: spec.id, commit: spec.commit, task: spec.task, baked });
    },
  );
}

function dryRunDocument({ model, plan, context, folder }: Prepared) {
  return {
    ...plan,
    labels: Object.fromEntries(plan.labels),
    reasons: model.reasons,
    folder,
    files: context.files,
  };
}

function dryRunText({ model, plan, context, folder }: Prepared): string {
  const files = Object.keys(context.files).map((name) => `${folder}/${name}`);
  const when = plan.baked ? 'fetched now, unless cached' : 'fetched by the container at its first start';
  return [
    planText(model),
    `image    ${plan.image.references.join(', ')} (${plan.platform}, ${plan.device})`,
    `runtime  ${plan.runtime}`,
    `weights  ${megabytes(totalBytes(model.spec))}, ${when}`,
    ...files.map((file) => `write    ${file}`),
  ].join('\n');
}
