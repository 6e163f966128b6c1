import type { Command } from 'commander';
import { type CommandDeps, reportOf } from '../deps.js';
import { BuilderError } from '../exit.js';
import { addOutputOptions, type OutputFlags } from '../options.js';
import type { Report } from '../report.js';
import { proofText } from '../verify/proof.js';
import { failures, type Proof, prove } from '../verify/prove.js';

type VerifyFlags = OutputFlags & { exact?: boolean; keep?: boolean; run: boolean };

const NOTES = `
Three steps: the hash of every file against the sealed manifest, read from the archive and not by the image's own code;
a run without a network in which any attempt to reach one fails the proof; and the golden request, whose answer must be
the recorded one. None of them needs a network. A tarball is loaded for the run and removed again.

Exit 0 when all pass, 1 when one fails, 3 when the image is not sealed.

Examples:
  builder verify slipway/org_model:sealed
  builder verify model.tar.gz --json
  builder verify model.tar.gz --no-run     hashes only; needs no Docker Engine`;

/** `builder verify`: the offline proof of a sealed image. */
export function verifyCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('verify')
    .description('Prove that a sealed image is whole and answers without a network')
    .argument('<image|file>', 'sealed image of this engine, or a tarball of one')
    .option('--exact', 'demand the recorded answer byte for byte, on any processor')
    .option('--keep', 'leave the image of a tarball on the engine')
    .option('--no-run', 'only hash the files')
    .addHelpText('after', NOTES);
  addOutputOptions(command).action((given: string, flags: VerifyFlags) => verify(given, flags, deps));
}

async function verify(given: string, flags: VerifyFlags, deps: CommandDeps): Promise<void> {
  const report = reportOf(deps, flags);
  tell(report, given, await prove(given, flags, { docker: deps.docker, report }));
}

/** @throws BuilderError `failure` unless every step has passed */
function tell(report: Report, given: string, proof: Proof): void {
  const { read, steps, exact } = proof;
  const { model, commit, task, platform } = read.manifest;
  const failed = failures(proof);
  const passed = failed.length === 0;
  const about = { image: given, id: read.image.id, model, commit, task, platform };
  report.result(proofText(steps), { ...about, passed, exact, recordedOn: read.golden.recordedOn, steps });
  if (!passed) throw new BuilderError('failure', `${given} is not proven: ${failed.join(', ')}`);
}
