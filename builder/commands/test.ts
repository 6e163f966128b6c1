import { type Command, InvalidArgumentError } from 'commander';
import { type Conformance, runChecks } from '../conformance/run-checks.js';
import { type CheckResult, type Group, GROUPS } from '../conformance/check.js';
import { runGatewayChecks } from '../conformance/gateway.js';
import { httpTransport } from '../conformance/http-transport.js';
import {
  modelImage,
  recordedAnswer,
  TEST_KEY,
  weightMounts,
  withIsolatedServer,
} from '../conformance/isolated-server.js';
import { type CommandDeps, reportOf } from '../deps.js';
import { BuilderError } from '../exit.js';
import { fetchWeights } from '../fetch-weights.js';
import {
  addHubOptions,
  addOutputOptions,
  type OutputFlags,
  parseModelId,
  type SourceFlags,
} from '../options.js';
import type { Report } from '../report.js';
import { columns } from '../table.js';
import { readAttempts, totalAttempts } from '../verify/counters.js';
import { waitForHealth } from '../wait-for-health.js';

type TestFlags = Pick<SourceFlags, 'cache' | 'hub'> &
  OutputFlags & { only?: Group[]; wait: number; model?: string };

const NOTES = `
An image is started without a network and asked from inside its container; weights that it does not hold come from the
builder's cache, mounted read-only. An address is that of a server that runs, below which /run is. What is sent comes from
the server's own /openapi.json and /status:

  routes   health, status, metrics, request ids, 404, 405
  answers  the golden request (of a sealed image: the recorded answer), the examples, the same request again, at once with
           others, as a stream, as a raw medium
  params   each parameter: an example is honoured or refused by name; null is taken; wrong values are refused by name
  bodies   malformed JSON, wrong types, empty input, 413, 415
  media    by address, from a server of this command's own on 127.0.0.1: the same answer, or refused without a call
  dialects every route of every interface of other servers that the model has (OpenAI, Anthropic, Ollama, TEI, rerank,
           Hugging Face, KServe, MCP …): each says what POST /run says, and its errors are in its own shape
  after    ready as before, no crash, and without a network also no attempt to reach one

With --model, the address is that of a gateway, whose interface is checked for that model: below the model's own address,
and at the root, where requests name it. It needs the gateway's pages, which describe its models.

A server at an address is sent what costs it a minute or more, so not one that others use. With KEY in the environment, it
is sent as "Authorization: Key …". Exit 0 when all checks pass, 1 when one fails, 3 when it is no model image.

Examples:
  builder test slipway/org_model:latest
  builder test http://127.0.0.1:8080 --only routes,bodies
  builder test slipway/org_model:sealed --json
  KEY=… builder test http://127.0.0.1:9000 --model org/model --only dialects`;

/** `builder test`: checks what a server answers against what it says of itself and what every server has to do. */
export function testCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('test')
    .description('Check that an image or a server answers as it says, and refuses what it must')
    .argument('<image|url>', 'model image of this engine, or address of a server')
    .option('--only <groups>', `only these checks: ${GROUPS.join(',')}`, groups)
    .option('--model <id>', 'the address is a gateway, and this one of its models', parseModelId)
    .option('--wait <seconds>', 'how long a server at an address may take to be ready', seconds, 60)
    .addHelpText('after', NOTES);
  addOutputOptions(addHubOptions(command)).action((given: string, flags: TestFlags) =>
    test(given, flags, deps),
  );
}

async function test(given: string, flags: TestFlags, deps: CommandDeps): Promise<void> {
  const report = reportOf(deps, flags);
  const isAddress = /^https?:\/\//i.test(given);
  if (flags.model !== undefined && !isAddress)
    throw new BuilderError('usage', '--model goes with the address of a gateway: an image has one model');
  const conformance = await (isAddress
    ? testAddress(given, { flags, deps, report })
    : testImage(given, { flags, deps, report }));
  printResults(report, given, conformance);
}

interface Context {
  flags: TestFlags;
  deps: CommandDeps;
  report: Report;
}

async function testAddress(address: string, { flags, deps, report }: Context): Promise<Conformance> {
  if (!URL.canParse(address)) throw new BuilderError('usage', `${address} is no address`);
  const { key } = deps.config;
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Key ${key}` };
  return report.step(`Test ${new URL(address).origin}`, async (say) => {
    await ready(address, flags.wait, say);
    const options = { headers, only: flags.only, say };
    return flags.model === undefined
      ? runChecks(httpTransport(address), options)
      : runGatewayChecks(address, flags.model, options);
  });
}

/** @throws BuilderError `failure` when the time is up */
async function ready(address: string, waitSeconds: number, say: (detail: string) => void): Promise<void> {
  const signal = AbortSignal.timeout(waitSeconds * 1000);
  let last = 'nothing answers GET /health there';
  const onWaiting = (reason: string) => say((last = reason));
  await waitForHealth(address.replace(/\/+$/, ''), { signal, onWaiting }).catch(() => {
    throw new BuilderError('failure', `${address} is not ready after ${waitSeconds} s: ${last}`);
  });
}

async function testImage(given: string, { flags, deps, report }: Context): Promise<Conformance> {
  const { docker } = deps;
  const image = await modelImage(docker, given);
  const recorded = await recordedAnswer(docker, image);
  const mounts = await weightMounts(docker, image, (spec) =>
    fetchWeights({ id: spec.id, flags, report, model: { spec } }, deps),
  );
  const headers = { authorization: `Key ${TEST_KEY}` };
  return report.step(`Test ${given} without a network`, (say) =>
    withIsolatedServer(docker, { image, mounts, say }, async (transport, container) => {
      const found = await runChecks(transport, { headers, recorded, only: flags.only, say });
      if (flags.only?.includes('after') ?? true)
        found.results.push(networkResult(await readAttempts(container)));
      return found;
    }),
  );
}

function networkResult(attempts: Awaited<ReturnType<typeof readAttempts>>): CheckResult {
  const total = totalAttempts(attempts);
  const detail =
    total === 0
      ? 'no attempt to reach a network'
      : `${total} attempts to reach a network; "builder verify" shows where they lead`;
  return { group: 'after', check: 'offline', passed: total === 0, detail, milliseconds: 0 };
}

/** @throws BuilderError `failure` unless every check has passed */
function printResults(report: Report, given: string, { described, results }: Conformance): void {
  const { model, task, version } = described;
  const failed = results.filter(({ passed }) => !passed);
  const document = { target: given, model, task, version, passed: failed.length === 0, checks: results };
  report.result(table(results), document);
  if (failed.length === 0) return;
  const names = failed.map(({ group, check }) => `${group} ${check}`);
  throw new BuilderError(
    'failure',
    `${given} fails ${failed.length} of ${results.length} checks: ${names.join(', ')}`,
  );
}

function table(results: readonly CheckResult[]): string {
  const rows = results.map(({ group, check, passed, detail }) => [
    passed ? 'ok' : 'FAIL',
    group,
    check,
    detail,
  ]);
  return columns([['', 'GROUP', 'CHECK', 'WHAT WAS SEEN'], ...rows]);
}

function groups(text: string): Group[] {
  const named = text.split(',').filter((name): name is Group => (GROUPS as readonly string[]).includes(name));
  if (named.length === text.split(',').length) return named;
  throw new InvalidArgumentError(`expected some of ${GROUPS.join(',')}`);
}

function seconds(text: string): number {
  if (/^\d{1,6}$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError('expected a number of seconds');
}
