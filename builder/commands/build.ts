import type { Command } from 'commander';
import { totalBytes } from '../../runtime/core/spec.js';
import { type CommandDeps, reportOf } from '../deps.js';
import { eachPlatform } from '../images/platforms.js';
import {
  addBakeOption,
  addImageOptions,
  addOutputOptions,
  addSourceOptions,
  type ImageChoice,
  modelId,
  type OutputFlags,
  type SourceFlags,
} from '../options.js';
import { buildImage, type BuildResult, planImages, predicted, type Prepared } from '../pipeline.js';
import { decideModel } from '../source.js';
import { megabytes, type Said, together } from '../report.js';
import { planText } from './plan-text.js';

type BuildFlags = SourceFlags & ImageChoice & OutputFlags & { dryRun?: boolean };

const EXAMPLES = `
Examples:
  builder build distilbert/distilbert-base-uncased-finetuned-sst-2-english
  builder build org/model --bake --json          weights inside, starts without a network
  builder build org/model --from ./exported      a local folder instead of the hub
  builder build org/model --dry-run              say what would be done, touch nothing
  builder build org/model --platform linux/amd64,linux/arm64 \\
    --base-image linux/arm64=node-arm64:24       an image for each, built without emulation`;

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
      const model = await decideModel({ id, flags, report }, deps);
      const each = eachPlatform(flags);
      const prepared: Prepared[] = [];
      for (const one of each)
        prepared.push({ model, ...(await planImages(predicted(model, one), one, deps)) });
      if (flags.dryRun) return report.result(...together(prepared.map(dryRun)));
      if (flags.from !== undefined && !flags.bake) report.note(NOT_ON_HUB);
      const results: BuildResult[] = [];
      for (const [i, one] of each.entries())
        results.push(await buildImage(prepared[i]!, { id, flags: one, report }, deps));
      if (results.length > 1) report.note(manifestHint(results));
      report.result(...together(results.map((result, i) => built(prepared[i]!.plan, result))));
    },
  );
}

function built({ spec, baked, platform }: Prepared['plan'], result: BuildResult): Said {
  const { id: model, commit, task } = spec;
  return { text: result.image, document: { ...result, model, commit, task, baked, platform } };
}

const dryRun = (prepared: Prepared): Said => ({
  text: dryRunText(prepared),
  document: dryRunDocument(prepared),
});

/** One name for all platforms needs a registry: an engine holds one image under a name. */
function manifestHint(results: readonly BuildResult[]): string {
  const images = results.map(({ image }) => image);
  const name = `${images[0]!.slice(0, images[0]!.lastIndexOf(':'))}:all`;
  return `for one name over all platforms: push these, then "docker manifest create ${name} ${images.join(' ')}" and "docker manifest push ${name}"`;
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
