import type { Command } from 'commander';
import { addBuildOptions, entriesOf } from '../build-file/entries.js';
import { BUILD_FILE } from '../build-file/read.js';
import { type CommandDeps, reportOf } from '../deps.js';
import { addOutputOptions, parseModelId } from '../options.js';
import { combineResults } from '../report.js';
import { buildMany } from './build-many.js';
import { type BuildFlags, buildOne, planBuild } from './build-one.js';

const EXAMPLES = `
The build folders of the model image and of its runtime image stay in --out, each with a README.md that says what it
needs. --folders-only writes complete folders, with --bake including weights, and needs no Docker Engine: "docker build"
makes the images from them on a machine without builder and network.

Without a model, the models of ./slipway.yaml are built one after the other; their downloads run side by side. A model that
fails leaves the others alone; exit code 1 then, with each reason on stderr. docs/operations.md has the file's form.

Examples:
  builder build distilbert/distilbert-base-uncased-finetuned-sst-2-english
  builder build org/model --bake --json          weights inside; starts without a network
  builder build org/model --from ./exported      a local folder instead of the hub
  builder build org/model --bake --folders-only --out ctx
  docker build --tag slipway/runtime:TAG ctx/slipway/runtime/TAG && \\
    docker build --tag slipway/org_model ctx/slipway/org_model
  builder build --file models.yaml --json        several models
  builder build org/model --dry-run              print what would be done; change nothing
  builder build org/model --platform linux/amd64,linux/arm64 \\
    --base-image linux/arm64=node-arm64:24       an image for each, built without emulation`;

/** `builder build`: prints the name of the image. The same inputs give the same image. */
export function buildCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('build')
    .description('Build a container image whose server answers POST /run')
    .argument('[model]', `id on the hub (default: the models of ./${BUILD_FILE})`, parseModelId)
    .option(
      '--file <file>',
      'without a model: build the models of this file, whose options those given beside it win over; with one: ' +
        'which file of GGUF, by its quantisation (Q4_K_M) or its name',
    )
    .option('--folders-only', 'only write complete build folders; needs no Docker Engine')
    .option('--dry-run', 'print what would be done; change nothing')
    .addHelpText('after', EXAMPLES);
  addOutputOptions(addBuildOptions(command)).action(
    async (id: string | undefined, { file, ...flags }: BuildFlags & { file?: string }) => {
      if (id === undefined) return buildMany(await entriesOf<BuildFlags>(file, command), flags, deps);
      const job = { id, flags: { ...flags, file }, report: reportOf(deps, flags) };
      const { results } = await buildOne(await planBuild(job, deps), job, deps);
      job.report.result(...combineResults(results));
    },
  );
}
