/**
 * Runs suites one after the other. Says what each of them and the slowest files took, and ends with one line over all of
 * them: "N passed, N failed, N skipped".
 * Usage: node scripts/test.mjs check unit contract processes parity browser clients faults e2e memory manifests real-weights
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { node24 } from './node-24.mjs';
import { unpackFixtures } from './packing/unpack.mjs';
import { createResults } from './testing/results.mjs';
import { provide, runJest, runStep } from './testing/run.mjs';
import { buildSharedImages } from './testing/shared-images.mjs';

const folder = mkdtempSync(join(tmpdir(), 'slipway-test-'));
const results = createResults();
const asked = process.argv.slice(2);
const cores = availableParallelism();

/** Tests of these wait for timers and other processes now and then: one more than there are cores keeps all busy. */
const SIDE_BY_SIDE = ['unit', 'contract', 'processes'];

/** A file of answers beside Python's keeps a core and a gigabyte or two. */
const MOST_PARITY_FILES = 4;

/** Files of these start servers, containers and processes, which have time limits: more of them would only wait. */
const MOST_E2E_FILES = 2;

/** How many files of a suite run at once; one where tests measure memory. */
const WORKERS = {
  parity: Math.min(cores, MOST_PARITY_FILES),
  floor: Math.min(cores, MOST_PARITY_FILES),
  faults: Math.min(cores, MOST_E2E_FILES),
  e2e: Math.min(cores, MOST_E2E_FILES),
};

const runSuite = async (name, options = {}) =>
  results.addSuite(await runJest([name], { folder, workers: WORKERS[name] ?? 1, ...options }));

const npm = (script) => ['run', '--silent', script];

/** The linter of the Python here: a program from PyPI, which our own script installs where it may. */
async function python() {
  if (await provide('ruff.sh'))
    return results.addStep(await runStep('python', '.cache/ruff/bin/ruff', ['check', '--quiet']));
  if (process.env.REQUIRE_RUFF === '1') return results.fail('no ruff, and REQUIRE_RUFF is set');
  results.skip('python: its linter is not here');
}

function check() {
  const steps = [
    ['types', 'npm', npm('typecheck')],
    ['lint', 'npm', npm('lint')],
    ['format', 'npm', npm('format:check')],
    ['generated documents', process.execPath, ['scripts/docs.mjs', '--check']],
  ];
  return Promise.all([python(), ...steps.map(async (step) => results.addStep(await runStep(...step)))]);
}

/** What suites need, brought up by a script of ours, or missing with the reason: a failure where it is required. */
async function need(what, script, required, stdout) {
  if (!(await provide(script, { stdout })) && process.env[required] === '1')
    results.fail(`no ${what}, and ${required} is set`);
}

/**
 * Reference answers are compared on the Node.js that images have. On another one, such as the oldest that is supported, it
 * is enough that one model of each head answers: what differs is the runtime, not what a model computes.
 */
async function parity() {
  const { path, reason } = node24();
  if (reason && process.env.REQUIRE_NODE24 === '1') results.fail(`parity on Node.js 24: ${reason}`);
  else if (reason) console.log(`parity on this Node.js: ${reason}`);
  await runSuite('parity', { node: path });
  if (path !== undefined && path !== process.execPath) await runSuite('floor');
}

/**
 * Manifests are judged by the API server of Kubernetes. What it said is kept in the tree, by the hash of every byte that it
 * was asked, so that it is built (which takes minutes) and started only for what it was never asked; or when these tests are
 * all that is asked for, or REQUIRE_KUBERNETES=always.
 */
async function manifests(name) {
  const { REQUIRE_KUBERNETES: required } = process.env;
  const alone = asked.length === 1;
  const kept = await runJest([name], { folder, workers: 1 });
  if (kept.status === 0 && !alone && required !== 'always') return results.addSuite(kept);
  const mayBuild = alone || Boolean(required);
  const env = mayBuild ? {} : { CACHED_ONLY: '1' };
  if (await provide('kube-apiserver.sh', { env })) return runSuite(name, { env: { KUBERNETES: 'real' } });
  if (required) results.fail('no API server of Kubernetes, and REQUIRE_KUBERNETES is set');
  results.addSuite(kept);
}

let removeSharedImages;

/** For suites with containers: the engine, and the runtime images that their files share. */
async function containers(name) {
  if (!removeSharedImages) {
    await need('Docker Engine', 'docker-engine.sh', 'REQUIRE_DOCKER', 'inherit');
    removeSharedImages = buildSharedImages();
  }
  await runSuite(name);
}

/** Pages are looked at with Debian's Chromium. */
async function browser(name) {
  await need('Chromium', 'chromium.sh', 'REQUIRE_BROWSER');
  await runSuite(name);
}

/** Published clients of other servers: installing them takes minutes and hundreds of megabytes, so only where it is asked for. */
async function clients(name) {
  if (process.env.REQUIRE_CLIENTS !== '1' && asked.length > 1)
    return results.skip('clients: REQUIRE_CLIENTS=1, or "make clients", installs and runs them');
  await need('Python with venv', 'python-venv.sh', 'REQUIRE_CLIENTS');
  const report = join(folder, 'clients.json');
  const { ms } = await runStep(name, process.execPath, ['scripts/clients/run.mjs', '--check', report]);
  if (!existsSync(report)) return results.fail('the clients ended without a report');
  results.addRows({ name, ms, rows: JSON.parse(readFileSync(report, 'utf8')) });
}

const RUN = { clients, parity, browser, manifests, e2e: containers, memory: containers };

unpackFixtures();
if (asked.includes('unit')) await need('promtool', 'promtool.sh', 'REQUIRE_PROMTOOL');
// Images are built over them.
if (asked.includes('e2e') || asked.includes('real-weights'))
  await need('weights of a real network', 'real-weights.sh', 'REQUIRE_REAL_WEIGHTS');
// Audio and video are read with the ffmpeg of this machine; images have their own.
if (asked.some((name) => ['unit', 'processes', 'parity', 'faults', 'e2e', 'browser'].includes(name)))
  await need('ffmpeg', 'ffmpeg.sh', 'REQUIRE_FFMPEG');

if (asked.includes('real-weights'))
  await need('a real file of GGUF', 'real-weights-gguf.sh', 'REQUIRE_REAL_WEIGHTS');

const together = SIDE_BY_SIDE.filter((name) => asked.includes(name));
// Tests that wait leave time for what only computes.
await Promise.all([
  ...(asked.includes('check') ? [check()] : []),
  ...(together.length > 0 ? [runJest(together, { folder, workers: cores + 1 }).then(results.addSuite)] : []),
]);
try {
  // In turn: pages that other processes map, too, would count for less where tests measure memory.
  for (const name of asked) {
    if (name !== 'check' && !together.includes(name)) await (RUN[name] ?? runSuite)(name);
  }
} finally {
  removeSharedImages?.();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = results.finish(join(import.meta.dirname, '..', '/')) ? 0 : 1;
