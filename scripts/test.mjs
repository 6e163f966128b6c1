/**
 * Runs suites one after the other and ends with one line over all of them: "N passed, N failed, N skipped".
 * Usage: node scripts/test.mjs check unit contract parity faults e2e manifests
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'slipway-test-'));
const total = { passed: 0, failed: 0, skipped: 0 };

/** A command that is one test: it passes when it exits with 0. */
function step(name, command, args) {
  const started = Date.now();
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  const passed = status === 0;
  total[passed ? 'passed' : 'failed']++;
  console.log(`${passed ? 'ok' : 'FAILED'}: ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
}

const npm = (script) => ['run', '--silent', script];

function check() {
  step('types', 'npm', npm('typecheck'));
  step('lint', 'npm', npm('lint'));
  step('format', 'npm', npm('format:check'));
  step('generated documents', process.execPath, ['scripts/docs.mjs', '--check']);
}

function suite(name) {
  const file = join(folder, `${name}.json`);
  const jest = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    'node_modules/jest/bin/jest.js',
  ];
  const inBand = name === 'e2e' || name === 'manifests' ? ['--runInBand'] : [];
  const report = ['--json', `--outputFile=${file}`, '--selectProjects', name];
  const { status } = spawnSync(process.execPath, [...jest, ...report, ...inBand], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  count(name, file, status);
}

function count(name, file, status) {
  let result;
  try {
    result = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // Jest ended before it could report: that is a failure of its own.
    total.failed++;
    return console.log(`FAILED: ${name} ended with status ${status} and no report`);
  }
  total.passed += result.numPassedTests;
  total.skipped += result.numPendingTests + result.numTodoTests;
  // A suite that can't be loaded has no tests to count.
  total.failed += result.numFailedTests + result.numRuntimeErrorTestSuites;
  if (result.numTotalTests === 0) total.failed++;
}

/** The e2e suite needs an engine and a base image; our script brings both up, or says why it can't. */
function dockerEngine() {
  const { status } = spawnSync('bash', ['scripts/docker-engine.sh'], { stdio: 'inherit' });
  if (status !== 0 && process.env.REQUIRE_DOCKER === '1') {
    total.failed++;
    console.log('FAILED: no Docker Engine, and REQUIRE_DOCKER is set');
  }
}

/** Manifests are judged by the API server of Kubernetes; our script builds it once, or says why it can't. */
function apiServer() {
  const { status } = spawnSync('bash', ['scripts/kube-apiserver.sh'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0 && process.env.REQUIRE_KUBERNETES === '1') {
    total.failed++;
    console.log('FAILED: no API server of Kubernetes, and REQUIRE_KUBERNETES is set');
  }
}

for (const name of process.argv.slice(2)) {
  if (name === 'check') check();
  else {
    if (name === 'e2e') dockerEngine();
    if (name === 'manifests') apiServer();
    suite(name);
  }
}
rmSync(folder, { recursive: true, force: true });
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;
