/**
 * Plants faults in source files, one at a time, and says which of them no test notices: those of the unit and contract
 * suites that a file is related to. Works on a copy of the tree, so that a run that is killed leaves nothing planted.
 *
 *   node scripts/mutants/run.mjs [FILES]   files or folders; by default those that all else stands on
 *   EACH=4 SEED=1                          faults drawn for each file (0: all of them), and the numbers that draw them
 *
 * Ends with 0: what survives is for people to judge.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mutantsOf, planted } from './mutate.mjs';

const DEFAULT = [
  ...[
    'runtime/worker',
    'runtime/http',
    'runtime/wire',
    'runtime/store',
    'gateway/limits',
    'gateway/upstream',
  ],
  ...['gateway/http', 'runtime/engines/generation/search', 'runtime/engines/encoders'],
];
/** A test that hangs has noticed, too. */
const LIMIT_MS = 90_000;

const git = (...args) =>
  spawnSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 26 })
    .stdout.split('\n')
    .filter(Boolean);

function filesOf(given) {
  const listed = git('ls-files', '--', ...given);
  return listed.filter((file) => file.endsWith('.ts') && /^(?:runtime|gateway|builder)\//.test(file));
}

/** Numbers below 1, the same for the same seed. */
function seeded(seed) {
  let state = seed;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

function drawn(mutants, each, random) {
  if (each === 0) return mutants;
  const left = [...mutants];
  const taken = Array.from(
    { length: Math.min(each, left.length) },
    () => left.splice(Math.floor(random() * left.length), 1)[0],
  );
  return taken.sort((a, b) => a.start - b.start);
}

function copyTree() {
  const tree = mkdtempSync(path.join(tmpdir(), 'slipway-mutants-'));
  for (const file of git('ls-files', '--cached', '--others', '--exclude-standard'))
    if (existsSync(file) && statSync(file).isFile()) cpSync(file, path.join(tree, file));
  for (const folder of ['node_modules', 'dist']) symlinkSync(path.resolve(folder), path.join(tree, folder));
  return tree;
}

/** Whether the related tests of a project pass; one that takes too long does not. */
function passes(tree, project, file) {
  const jest = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    'node_modules/jest/bin/jest.js',
  ];
  const tests = ['--selectProjects', project, '--findRelatedTests', file, '--passWithNoTests'];
  const quick = ['--bail=1', '--testTimeout=10000', '--silent'];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...jest, ...tests, ...quick], {
      cwd: tree,
      stdio: 'ignore',
      detached: true,
    });
    const timer = setTimeout(() => process.kill(-Number(child.pid), 'SIGKILL'), LIMIT_MS);
    child.once('exit', (code) => {
      clearTimeout(timer);
      resolve(code === 0);
    });
  });
}

async function survives(tree, file) {
  for (const project of ['unit', 'contract']) if (!(await passes(tree, project, file))) return false;
  return true;
}

const each = Number(process.env.EACH ?? 4);
const random = seeded(Number(process.env.SEED ?? 1));
const given = process.argv.slice(2);
const files = filesOf(given.length > 0 ? given : DEFAULT);
const tree = copyTree();
const count = { planted: 0, survived: 0 };
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    rmSync(tree, { recursive: true, force: true });
    process.exit(130);
  });
try {
  for (const file of files) {
    const source = readFileSync(file, 'utf8');
    const place = path.join(tree, file);
    for (const mutant of drawn(mutantsOf(source), each, random)) {
      writeFileSync(place, planted(source, mutant));
      const alive = await survives(tree, file);
      count.planted++;
      if (alive) count.survived++;
      const was = source.slice(mutant.start, mutant.end).replaceAll(/\s+/g, ' ').slice(0, 80);
      console.log(`${alive ? 'SURVIVED' : 'noticed '} ${file}:${mutant.line} ${mutant.what}: ${was}`);
    }
    writeFileSync(place, source);
  }
} finally {
  rmSync(tree, { recursive: true, force: true });
}
console.log(
  `${count.planted} faults planted, ${count.planted - count.survived} noticed, ${count.survived} survived`,
);
