import { type Command, InvalidArgumentError, Option } from 'commander';
import { hubAddress } from '../../runtime/store/hub-address.js';
import { replaceFile } from '../../runtime/store/replace-file.js';
import { type CommandDeps, reportOf } from '../deps.js';
import { BuilderError } from '../exit.js';
import { isDnsLabel } from '../manifest/names.js';
import { FORMATS, type ManifestFlags, manifestSettings } from '../manifest/settings.js';
import { readManifestSubject } from '../manifest/subject.js';
import { addOutputOptions, parseByteSize, parseImageReference, type OutputFlags } from '../options.js';

type Flags = Omit<ManifestFlags, 'env'> & OutputFlags & { env: string[]; output?: string };

const NOTES = `
The image's labels say which model it is, whether it holds its weights, and what memory and time it takes. The memory
limit is the peak plus 30 %; a start may take three times the predicted time. The container runs as user 1000 on a
read-only root file system without capabilities. KEY and HF_TOKEN are mounted files: the first lines of the output say
how to make them, and no secret is in the output.

  kubernetes  Deployment and Service; images without weights get an init container that fetches them
  knative     a Service that scales to zero and holds callers while a pod starts
  compose     a project for docker compose, without a port on the host unless --publish is given
  quadlet     a .container unit for podman 4.4 or later under systemd

Examples:
  builder manifest slipway/org_model:sealed --format kubernetes --namespace models | kubectl apply -f -
  builder manifest slipway/org_model:latest --format kubernetes --image registry.example/org_model:1 --claim weights
  builder manifest model.tar.gz --format knative --replicas 4 -o service.yaml
  builder manifest slipway/org_model:latest --format compose --publish 127.0.0.1:8080 -o compose.yaml`;

/** `builder manifest`: prints what a cluster or an engine needs to run an image. */
export function manifestCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('manifest')
    .description('Print a manifest that runs an image: Kubernetes, Knative, Compose or systemd')
    .argument('<image|file>', 'model image of this engine, or a tarball of one')
    .addOption(
      new Option('--format <format>', 'format of the manifest').choices(FORMATS).makeOptionMandatory(),
    )
    .option('--name <name>', 'name of the service (default: from the model id)', dnsLabel)
    .option('--namespace <name>', 'namespace of the cluster', dnsLabel)
    .option('--image <reference>', 'image reference in the manifest (default: as given)', parseImageReference)
    .option('--replicas <number>', 'number of containers; with knative the maximum', wholeNumber, 1)
    .option(
      '--cpus <number>',
      'cores that each container asks for, and its threads (default: from the labels, 2 at most; 2 threads)',
      coreCount,
    )
    .option('--memory <size>', 'memory limit, e.g. 2g (default: from the labels)', parseByteSize)
    .option('--secret <name>', 'secret with the files key and hf-token', dnsLabel, 'slipway')
    .option('--hf-token', 'mount hf-token for the download of a gated model')
    .option('--claim <name>', 'PersistentVolumeClaim that keeps downloaded weights', dnsLabel)
    .option('--host <host>', 'add an Ingress for this host name', hostName)
    .option('--publish <[address:]port>', 'port on the host', parsePublish)
    .option('--network-policy', 'allow access from the gateway only')
    .option('--env <NAME=VALUE>', 'variable of the server, no secrets; repeatable', appendTo, [])
    .option('-o, --output <file>', 'write to a file instead of stdout')
    .addHelpText('after', NOTES);
  addOutputOptions(command).action((given: string, flags: Flags) => manifest(given, flags, deps));
}

async function manifest(given: string, flags: Flags, deps: CommandDeps): Promise<void> {
  const report = reportOf(deps, flags);
  const env = variablesOf(flags.env);
  const settings = manifestSettings(await readManifestSubject(given, deps.docker), { ...flags, env });
  // Loaded here, so that other commands don't load the YAML library.
  const { renderManifest } = await import('../manifest/render.js');
  const { text, documents, notes } = renderManifest(flags.format, settings);
  for (const note of notes) report.note(note);
  const { name, modelId: model, image } = settings;
  const document = { format: flags.format, name, model, image, notes, documents, text };
  if (flags.output === undefined) return report.result(text, document);
  await writeManifest(flags.output, `${text}\n`);
  report.result(flags.output, { ...document, file: flags.output });
}

/** Writes the file atomically. @throws BuilderError */
async function writeManifest(file: string, text: string): Promise<void> {
  await replaceFile(file, text, { sync: true }).catch((cause: NodeJS.ErrnoException) => {
    throw new BuilderError('failure', `${file} can't be written (${cause.code}); give another -o`, { cause });
  });
}

const appendTo = (text: string, before: readonly string[]) => [...before, text];

function dnsLabel(text: string): string {
  if (isDnsLabel(text)) return text;
  throw new InvalidArgumentError(
    'expected lower-case letters, digits and dashes, a letter first, 63 at most',
  );
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a whole number from 1 to 9999');
}

function coreCount(text: string): number {
  if (/^\d{1,3}(?:\.\d{1,3})?$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError('expected a number of cores such as 2 or 0.5');
}

function hostName(text: string): string {
  if (
    text.length <= 253 &&
    /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/.test(text)
  )
    return text;
  throw new InvalidArgumentError('expected a host name in lower case such as models.example.com');
}

/** `8080`, `127.0.0.1:8080` or `[::1]:8080`. */
function parsePublish(text: string): string {
  const [, port] = /^(?:[\d.]+:|\[[\da-f:]+\]:)?(\d{1,5})$/i.exec(text) ?? [];
  if (port !== undefined && Number(port) > 0 && Number(port) <= 65_535) return text;
  throw new InvalidArgumentError('expected a port, or an address and a port such as 127.0.0.1:8080');
}

const SECRET = /^(?:KEY|HF_TOKEN|HUGGING_FACE_HUB_TOKEN)$/;
const RESERVED = /^(?:PORT|HOST|KEY_FILE|HF_TOKEN_FILE)$/;

/** Not an option parser, because its error would repeat the value. @throws BuilderError without the value */
function variablesOf(given: readonly string[]): Record<string, string> {
  const pairs = given.map((text): [string, string] => {
    const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
    // No control characters: unit files are read by lines.
    if (name === undefined || /\p{Cc}/u.test(value!))
      throw new BuilderError('usage', '--env takes NAME=VALUE on one line, e.g. --env LOG_FORMAT=text');
    if (SECRET.test(name))
      throw new BuilderError(
        'usage',
        `${name} is a secret: put it into a file of the secret that --secret names`,
      );
    if (name === 'HF_ENDPOINT' && URL.canParse(value!) && hubAddress(value!).authorization !== undefined)
      throw new BuilderError(
        'usage',
        'HF_ENDPOINT holds a password, which a manifest would show: mount a file with it and give HF_ENDPOINT_FILE',
      );
    if (RESERVED.test(name)) throw new BuilderError('usage', `${name} is what the manifest itself sets`);
    return [name, value!];
  });
  return Object.fromEntries(pairs);
}
