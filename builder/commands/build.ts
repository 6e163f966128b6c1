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
  parseModelId,
  type OutputFlags,
  type SourceFlags,
} from '../options.js';
import {
  buildImage,
  type BuildResult,
  type FoldersResult,
  planImages,
  predictModel,
  type PreparedModel,
  writeCompleteFolders,
} from '../pipeline.js';
import { BuilderError } from '../exit.js';
import { finishModel } from '../pack/decide-model.js';
import { planFor } from '../source.js';
import { megabytes, type CommandResult, combineResults } from '../report.js';
import { planText } from './plan-text.js';

type BuildFlags = SourceFlags & ImageChoice & OutputFlags & { dryRun?: boolean; foldersOnly?: boolean };

const EXAMPLES = `
The build folders of the model image and of its runtime image stay in --out, each with a README.md that says what it
needs. --folders-only writes complete folders, with --bake including weights, and needs no Docker Engine: "docker build"
makes the images from them on a machine without builder and network.

Examples:
  builder build distilbert/distilbert-base-uncased-finetuned-sst-2-english
  builder build org/model --bake --json          weights inside; starts without a network
  builder build org/model --from ./exported      a local folder instead of the hub
  builder build org/model --bake --folders-only --out ctx
  docker build --tag slipway/runtime:TAG ctx/slipway/runtime/TAG && \\
    docker build --tag slipway/org_model ctx/slipway/org_model
  builder build org/model --dry-run              print what would be done; change nothing
  builder build org/model --platform linux/amd64,linux/arm64 \\
    --base-image linux/arm64=node-arm64:24       an image for each, built without emulation`;

const LOCAL_ONLY =
  'no hub has the state of a local folder: mount it at /server/model when the image runs, or build with --bake';

const NOT_ON_A_HUB =
  'weights that are packed or merged here are on no hub, where an image could fetch them at its start: build with --bake';

/** `builder build`: prints the name of the image. The same inputs give the same image. */
export function buildCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('build')
    .description('Build a container image whose server answers POST /run')
    .argument('<model>', 'id on the hub', parseModelId)
    .option('--folders-only', 'only write complete build folders; needs no Docker Engine')
    .option('--dry-run', 'print what would be done; change nothing')
    .addHelpText('after', EXAMPLES);
  addOutputOptions(addBakeOption(addImageOptions(addSourceOptions(command)))).action(
    async (id: string, flags: BuildFlags) => {
      const report = reportOf(deps, flags);
      const planned = await planFor({ id, flags, report }, deps);
      if (planned.toMake && !flags.bake) throw new BuilderError('usage', NOT_ON_A_HUB);
      const model = flags.dryRun ? planned : await finishModel(planned, { id, flags, report }, deps);
      const platforms = eachPlatform(flags);
      const prepared: PreparedModel[] = [];
      for (const platform of platforms)
        prepared.push({ model, ...(await planImages(predictModel(model, platform), platform, deps)) });
      if (flags.dryRun) return report.result(...combineResults(prepared.map(dryRun)));
      if (flags.from !== undefined && !flags.bake) report.note(LOCAL_ONLY);
      if (flags.foldersOnly) {
        const written: FoldersResult[] = [];
        for (const [i, platform] of platforms.entries())
          written.push(await writeCompleteFolders(prepared[i]!, { id, flags: platform, report }, deps));
        return report.result(...combineResults(written.map(folders)));
      }
      const results: BuildResult[] = [];
      for (const [i, platform] of platforms.entries())
        results.push(await buildImage(prepared[i]!, { id, flags: platform, report }, deps));
      if (results.length > 1) report.note(manifestHint(results));
      report.result(...combineResults(results.map((result, i) => built(prepared[i]!.plan, result))));
    },
  );
}

function built({ spec, baked, platform }: PreparedModel['plan'], result: BuildResult): CommandResult {
  const { id: model, commit, task } = spec;
  return { text: result.image, document: { ...result, model, commit, task, baked, platform } };
}

/** The runtime folder first, because it is built first. */
const folders = (result: FoldersResult): CommandResult => ({
  text: `${result.runtimeFolder}\n${result.folder}`,
  document: result,
});

const dryRun = (prepared: PreparedModel): CommandResult => ({
  text: dryRunText(prepared),
  document: dryRunDocument(prepared),
});

/** One name for all platforms needs a registry, since an engine has one image per name. */
function manifestHint(results: readonly BuildResult[]): string {
  const images = results.map(({ image }) => image);
  const name = `${images[0]!.slice(0, images[0]!.lastIndexOf(':'))}:all`;
  return `for one name over all platforms: push these, then "docker manifest create ${name} ${images.join(' ')}" and "docker manifest push ${name}"`;
}

function dryRunDocument({ model, plan, context, folder }: PreparedModel) {
  return {
    ...plan,
    labels: Object.fromEntries(plan.labels),
    reasons: model.reasons,
    folder,
    files: context.files,
  };
}

function dryRunText({ model, plan, context, folder }: PreparedModel): string {
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
