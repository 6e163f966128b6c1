/**
 * Runs suites one after the other. Says what each of them and the slowest files took, and ends with one line over all of
 * them: "N passed, N failed, N skipped".
 * Usage: node scripts/test.mjs check unit contract processes parity faults e2e manifests
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDurations } from './durations.mjs';
import { node24 } from './node-24.mjs';

const folder = mkdtempSync(join(tmpdir(), 'slipway-test-'));
const total = { passed: 0, failed: 0, skipped: 0 };
const durations = createDurations();

/** A command that is one test: it passes when it exits with 0. What it says comes in one piece. */
async function step(name, command, args) {
  const started = Date.now();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (said += text));
  const passed = await new Promise((resolve) => {
    child.on('error', (error) => resolve(!(said += error.message)));
    child.on('close', (status) => resolve(status === 0));
  });
  process.stdout.write(said);
  total[passed ? 'passed' : 'failed']++;
  durations.add(name, Date.now() - started);
  console.log(`${passed ? 'ok' : 'FAILED'}: ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
}

const npm = (script) => ['run', '--silent', script];

function check() {
  return Promise.all([
    step('types', 'npm', npm('typecheck')),
    step('lint', 'npm', npm('lint')),
    step('format', 'npm', npm('format:check')),
    step('generated documents', process.execPath, ['scripts/docs.mjs', '--check']),
  ]);
}

/** Tests of these wait for timers and other processes now and then: one more than there are cores keeps all busy. */
const SIDE_BY_SIDE = ['unit', 'contract', 'processes'];

/** A file of answers beside Python's keeps a core and a gigabyte or two. */
const MOST_PARITY_FILES = 4;

/** How many files run at once. Tests that measure memory, start servers or fill the disk have the machine to themselves. */
function workersFor(suite) {
  const cores = availableParallelism();
  if (SIDE_BY_SIDE.includes(suite)) return `--maxWorkers=${cores + 1}`;
  return ['parity', 'floor'].includes(suite)
    ? `--maxWorkers=${Math.min(cores, MOST_PARITY_FILES)}`
    : '--runInBand';
}

function suite(...names) {
  return runSuite(names, { node: process.execPath, name: names.join('-') });
}

async function runSuite(names, { node, name }) {
  const file = join(folder, `${name}.json`);
  const jest = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    'node_modules/jest/bin/jest.js',
  ];
  const report = ['--json', `--outputFile=${file}`, '--selectProjects', ...names];
  const started = Date.now();
  const child = spawn(node, [...jest, ...report, workersFor(names[0])], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [status] = await once(child, 'close');
  count(name, { file, status, ms: Date.now() - started });
}

function count(name, { file, status, ms }) {
  let result;
  try {
    result = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // Jest ended before it could report: that is a failure of its own.
    total.failed++;
    durations.add(name, ms);
    return console.log(`FAILED: ${name} ended with status ${status} and no report`);
  }
  durations.add(name, ms, result.testResults);
  total.passed += result.numPassedTests;
  total.skipped += result.numPendingTests + result.numTodoTests;
  // A suite that can't be loaded has no tests to count.
  total.failed += result.numFailedTests + result.numRuntimeErrorTestSuites;
  if (result.numTotalTests === 0) total.failed++;
}

/**
 * Reference answers are compared on the Node.js that images have. On another one, such as the oldest that is supported, it
 * is enough that one model of each head answers: what differs is the runtime, not what a model computes.
 */
async function parity() {
  const { path, reason } = node24();
  if (path === undefined) {
    if (process.env.REQUIRE_NODE24 === '1') total.failed++;
    console.log(`${process.env.REQUIRE_NODE24 === '1' ? 'FAILED' : 'on this one'}: parity: ${reason}`);
  }
  await runSuite(['parity'], { node: path ?? process.execPath, name: 'parity' });
  if (path !== undefined && path !== process.execPath) await suite('floor');
}

/** What suites need, brought up by a script of ours, or missing with the reason: a failure where it is required. */
async function provide(what, script, required, stdout = 'ignore') {
  const child = spawn('bash', [join('scripts', script)], { stdio: ['ignore', stdout, 'inherit'] });
  const [status] = await once(child, 'close');
  if (status === 0 || process.env[required] !== '1') return;
  total.failed++;
  console.log(`FAILED: no ${what}, and ${required} is set`);
}

const dockerEngine = () => provide('Docker Engine', 'docker-engine.sh', 'REQUIRE_DOCKER', 'inherit');

/**
 * Manifests are judged by the API server of Kubernetes. Our script builds it once, or says why it can't; that takes
 * minutes, so it does when these tests are all that is asked for, or may not be skipped.
 */
async function apiServer({ alone }) {
  if (!alone && process.env.REQUIRE_KUBERNETES !== '1') return;
  await provide('API server of Kubernetes', 'kube-apiserver.sh', 'REQUIRE_KUBERNETES');
}

/** Sound and video are read with the ffmpeg of this machine; images have their own. */
const ffmpeg = () => provide('ffmpeg', 'ffmpeg.sh', 'REQUIRE_FFMPEG');

/** Images are built over them. */
const realWeights = () => provide('weights of a real network', 'real-weights.sh', 'REQUIRE_REAL_WEIGHTS');

const asked = process.argv.slice(2);
if (asked.includes('e2e')) await realWeights();
if (asked.some((name) => ['unit', 'processes', 'parity', 'faults'].includes(name))) await ffmpeg();
const together = SIDE_BY_SIDE.filter((name) => asked.includes(name));
// In turn: pages that other processes map, too, would count for less where e2e measures memory.
const alone = asked.filter((name) => name !== 'check' && !together.includes(name));
// Tests that wait leave time for what only computes.
await Promise.all([
  ...(asked.includes('check') ? [check()] : []),
  ...(together.length > 0 ? [suite(...together)] : []),
]);
for (const name of alone) {
  if (name === 'e2e') await dockerEngine();
  if (name === 'manifests') await apiServer({ alone: asked.length === 1 });
  if (name === 'parity') await parity();
  else await suite(name);
}
rmSync(folder, { recursive: true, force: true });
console.log(durations.table(join(import.meta.dirname, '..', '/')));
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;
