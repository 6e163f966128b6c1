import { type Command, InvalidArgumentError } from 'commander';
import { type CommandDeps, reportOf } from '../deps.js';
import { BuilderError } from '../exit.js';
import { addOutputOptions, type OutputFlags } from '../options.js';
import type { Report } from '../report.js';
import { BUNDLE_SUFFIX } from '../sign/bundle.js';
import { readPublicKey } from '../sign/keys.js';
import { readBundle, signatureFile } from '../sign/store.js';
import { isFile } from '../transfer/sources.js';
import { proofText } from '../verify/proof.js';
import { failures, type Proof, prove } from '../verify/prove.js';
import type { RequiredSignature } from '../verify/signature.js';

type VerifyFlags = OutputFlags & {
  id?: string;
  key?: string;
  bundle?: string;
  exact?: boolean;
  keep?: boolean;
  run: boolean;
};

const NOTES = `
Compares entrypoint, environment, user, health check, labels and all other settings of the image, and the hash of every
file and layer, with the sealed manifest. Then runs the image without a network: any network attempt fails the proof, and
the answer to the golden request must be the recorded one. Hashes are computed from the archive, not by the image's own
code, and no network is needed. A tarball is loaded for the run and removed again.

The manifest is part of the image, so whoever replaces the image can replace the manifest, too. Only the id printed by
"builder snapshot" (--id) or a signature by a key that you know (--key) shows the origin. "builder export" puts the
signature beside the tarball. An image that is not the required one is not started.

Exit 0 when all pass, 1 when one fails, 3 when the image is not sealed.

Examples:
  builder verify slipway/org_model:sealed
  builder verify model.tar.gz --key release.pub   signed with release.key; reads model.tar.gz.sigstore.json
  builder verify slipway/org_model:sealed --key release.pub --bundle model.tar.gz.sigstore.json
  builder verify model.tar.gz --id sha256:6c3f…   exactly the image that was sealed
  builder verify model.tar.gz --no-run --json     hashes only; needs no Docker Engine`;

/** `builder verify`: the offline proof of a sealed image. */
export function verifyCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('verify')
    .description('Prove that a sealed image is unchanged and answers without a network')
    .argument('<image|file>', 'sealed image of this engine, or a tarball of one')
    .option('--id <sha256:…>', 'require this id, printed by "builder snapshot"', imageId)
    .option('--key <file>', 'require a signature by this public key (PEM)')
    .option('--bundle <file>', 'signature file (default: beside the tarball, or where snapshot stored it)')
    .option('--exact', 'require the recorded answer byte for byte, on any CPU')
    .option('--keep', 'keep the image of a tarball on the engine')
    .option('--no-run', 'only hash the files')
    .addHelpText('after', NOTES);
  addOutputOptions(command).action((given: string, flags: VerifyFlags) => verify(given, flags, deps));
}

async function verify(given: string, flags: VerifyFlags, deps: CommandDeps): Promise<void> {
  const report = reportOf(deps, flags);
  const signature = await requiredSignature(given, flags, deps);
  const proof = await prove(given, { ...flags, signature }, { docker: deps.docker, report });
  if (flags.id === undefined && flags.key === undefined) report.note(originNotice(proof));
  printProof(report, given, proof);
}

/** Reads the key first, so that a wrong one fails early. */
async function requiredSignature(
  given: string,
  { key: keyFile, bundle: named }: VerifyFlags,
  { config }: CommandDeps,
): Promise<((id: string) => Promise<RequiredSignature>) | undefined> {
  if (keyFile === undefined) {
    if (named === undefined) return undefined;
    throw new BuilderError('usage', '--bundle needs --key: the public key of who has signed');
  }
  const key = await readPublicKey(keyFile);
  const beside = (await isFile(given)) ? `${given}${BUNDLE_SUFFIX}` : undefined;
  return async (id) => {
    const file = named ?? beside ?? signatureFile(config.data, id);
    return { key, keyFile, file, bundle: await readBundle(file) };
  };
}

/** Added to every proof without a demanded id or key. */
function originNotice({ read }: Proof): string {
  return (
    `nothing here says who has sealed it: compare its id, ${read.image.id}, with the one that "builder snapshot" ` +
    'has printed, or demand it with --id, or a signature with --key'
  );
}

function imageId(text: string): string {
  const [, hex] = /^(?:sha256:)?([0-9a-f]{64})$/.exec(text) ?? [];
  if (hex !== undefined) return `sha256:${hex}`;
  throw new InvalidArgumentError('expected the whole id, sha256: and 64 hexadecimal digits');
}

/** @throws BuilderError `failure` unless every step has passed */
function printProof(report: Report, given: string, proof: Proof): void {
  const { read, steps, exact } = proof;
  const { model, commit, task, platform } = read.manifest;
  const failed = failures(proof);
  const passed = failed.length === 0;
  const about = { image: given, id: read.image.id, names: read.image.names, model, commit, task, platform };
  report.result(proofText(steps), { ...about, passed, exact, recordedOn: read.golden.recordedOn, steps });
  if (!passed) throw new BuilderError('failure', `${given} is not proven: ${failed.join(', ')}`);
}
