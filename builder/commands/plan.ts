import type { Command } from 'commander';
import { type CommandDeps, reportOf } from '../deps.js';
import {
  addOutputOptions,
  addSourceOptions,
  modelId,
  type OutputFlags,
  type SourceFlags,
} from '../options.js';
import { decideModel } from '../pipeline.js';
import type { ModelPlan } from '../plan/index.js';
import { megabytes } from '../report.js';

/** `builder plan`: says how a model would be served and why, or why not. Fetches listings and small files only. */
export function planCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('plan')
    .description('Say how a model would be served, and why; fetch no weights')
    .argument('<model>', 'id on the hub', modelId)
    .addHelpText(
      'after',
      '\nExample:\n  builder plan distilbert/distilbert-base-uncased-finetuned-sst-2-english',
    );
  addOutputOptions(addSourceOptions(command)).action(async (id: string, flags: SourceFlags & OutputFlags) => {
    const report = reportOf(deps, flags);
    const model = await decideModel({ id, flags, report }, deps);
    const { spec, reasons, figures } = model;
    report.result(planText(model), { spec, reasons, figures });
  });
}

/** The plan for people. */
export function planText({ spec, reasons, figures }: ModelPlan): string {
  const rows = [
    ['model', spec.id],
    ['commit', `${spec.commit} (${spec.revision})`],
    ['task', spec.task],
    ['engine', `${spec.engine} (${spec.profile} profile)`],
    ['dtype', spec.dtype],
    ['license', spec.license ?? 'not stated'],
    ['files', `${spec.files.length}, ${megabytes(figures.totalBytes)}`],
    ['memory', `about ${megabytes(figures.steadyBytes)}, ${megabytes(figures.loadPeakBytes)} while it loads`],
  ];
  const table = rows.map(([name, value]) => `${name!.padEnd(8)} ${value}`);
  return [...table, ...reasons.map((reason) => `  - ${reason}`)].join('\n');
}
