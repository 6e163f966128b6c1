import type { Command } from 'commander';
import { totalBytes } from '../../runtime/core/spec.js';
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
    const { spec, reasons } = await decideModel({ id, flags, report }, deps);
    report.result(planText({ spec, reasons }), { spec, reasons });
  });
}

/** The plan for people. */
export function planText({ spec, reasons }: Pick<ModelPlan, 'spec' | 'reasons'>): string {
  const rows = [
    ['model', spec.id],
    ['commit', `${spec.commit} (${spec.revision})`],
    ['task', spec.task],
    ['engine', `${spec.engine} (${spec.profile} profile)`],
    ['dtype', spec.dtype],
    ['license', spec.license ?? 'not stated'],
    ['files', `${spec.files.length}, ${megabytes(totalBytes(spec))}`],
  ];
  const table = rows.map(([name, value]) => `${name!.padEnd(8)} ${value}`);
  return [...table, ...reasons.map((reason) => `  - ${reason}`)].join('\n');
}
