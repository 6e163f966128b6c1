import type { Command } from 'commander';
import { type CheckResult, runChecks } from '../checks.js';
import { type CommandDeps, reportOf } from '../deps.js';
import { BuilderError } from '../exit.js';
import { addOutputOptions, type OutputFlags } from '../options.js';

/** `builder doctor`: checks this machine and prints remedies; exit code 1 when a required check fails. */
export function doctorCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('doctor')
    .description('Check Node.js, Docker, disk, hub and token, and say what to do')
    .addHelpText('after', '\nExample:\n  builder doctor --json');
  addOutputOptions(command).action(async (flags: OutputFlags) => {
    const results = await runChecks({ ...deps, nodeVersion: process.version });
    reportOf(deps, flags).result(results.map(formatCheck).join('\n'), results);
    const failed = results.filter(({ state }) => state === 'fail').map(({ check }) => check);
    if (failed.length > 0) throw new BuilderError('failure', `not in order: ${failed.join(', ')}`);
  });
}

function formatCheck({ check, state, detail, remedy }: CheckResult): string {
  return `${state.padEnd(4)}  ${check.padEnd(7)} ${detail}${remedy === undefined ? '' : `\n              -> ${remedy}`}`;
}
