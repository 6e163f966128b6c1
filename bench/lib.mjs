/** Shared by the benches: a model folder, a running server, memory of its processes. */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { freePort } from '../scripts/testing/free-port.mjs';

const CACHE = resolve('.cache/bench');

const run = (command, args) => execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });

/** Makes a bench model (random weights) once, with the committed Python script, in a venv of its own or by `python`. */
export function benchModel(script, { name = script.replace(/\.py$/, ''), flags = [], python } = {}) {
  const dir = join(CACHE, name);
  if (existsSync(join(dir, '.complete'))) return dir;
  run(python ?? benchPython(), [join('scripts/models', script), dir, ...flags]);
  writeFileSync(join(dir, '.complete'), '');
  return dir;
}

/** A Python with what scripts/models/requirements.txt names. */
function benchPython() {
  const venv = join(CACHE, 'venv');
  const python = join(venv, 'bin/python');
  const wanted = readFileSync('scripts/models/requirements.txt', 'utf8');
  const stamp = join(venv, 'requirements.txt');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return python;
  mkdirSync(CACHE, { recursive: true });
  run('python3', ['-m', 'venv', venv]);
  run(python, ['-m', 'pip', 'install', '-q', '-r', 'scripts/models/requirements.txt']);
  writeFileSync(stamp, wanted);
  return python;
}

export function filesOf(dir) {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name));
}

export function bytesOf(dir, pattern = /./) {
  return filesOf(dir)
    .filter((file) => pattern.test(file))
    .reduce((sum, file) => sum + statSync(file).size, 0);
}

/** A spec for a folder whose files are all needed, but for graphs other than `graphs`. */
export function specOf(
  dir,
  { task, engine = 'transformers', graphs = { model: 'onnx/model.onnx' }, dtype, profile = 'text' },
) {
  const wanted = new Set(Object.values(graphs));
  const needed = (file) => !file.endsWith('.onnx') || wanted.has(relative(dir, file));
  const files = filesOf(dir)
    .filter(needed)
    .map((file) => ({
      path: relative(dir, file),
      size: statSync(file).size,
      sha256: createHash('sha256').update(readFileSync(file)).digest('hex'),
    }));
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    ...{ specVersion: 1, id: 'bench/model', revision: 'main', commit: '0'.repeat(40), task, engine },
    ...{ profile, dtype: dtype ?? 'fp32', graphs, files },
  };
}

const scratches = [];
process.once('exit', () => scratches.forEach((dir) => rmSync(dir, { recursive: true, force: true })));

/** Starts the bundled server on a model folder; resolves at once, `ready()` waits. */
export async function startServer({
  dir,
  env = {},
  node = process.execPath,
  image = 'dist/image/main.mjs',
  spec: given,
  ...model
}) {
  const scratch = mkdtempSync(join(tmpdir(), 'slipway-bench-'));
  scratches.push(scratch);
  const spec = join(scratch, 'model.json');
  writeFileSync(spec, JSON.stringify(given ?? specOf(dir, model)));
  const port = await freePort();
  const started = performance.now();
  const child = spawn(node, [image], {
    env: {
      ...process.env,
      KEY: 'bench',
      PORT: String(port),
      MODEL_SPEC: spec,
      MODEL_DIR: resolve(dir),
      DEVICE: 'cpu',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  const health = async () => (await fetch(`${url}/health`).catch(() => undefined))?.status === 200;
  return {
    url,
    pid: child.pid,
    /** Milliseconds from the start to the first 200 of /health. */
    async ready() {
      while (!(await health())) {
        if (child.exitCode !== null) throw new Error('the server ended');
        await new Promise((tick) => setTimeout(tick, 5));
      }
      return performance.now() - started;
    },
    stop: () => new Promise((gone) => (child.once('exit', gone), child.kill('SIGTERM'))),
  };
}

/** The process and its children. */
export function tree(pid) {
  let children = [];
  try {
    children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  } catch {
    // It has just ended.
  }
  return [pid, ...children.flatMap((child) => tree(Number(child)))];
}

/** Proportional set size of the process and its children in bytes: shared pages count once. */
export function pssOf(pid) {
  return tree(pid).reduce((sum, each) => {
    try {
      const match = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${each}/smaps_rollup`, 'utf8'));
      return sum + Number(match?.[1] ?? 0) * 1024;
    } catch {
      return sum;
    }
  }, 0);
}

/** Resident set size of processes in bytes: shared pages count in each. */
export function rssOf(pids) {
  return pids.reduce((sum, pid) => {
    try {
      const match = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
      return sum + Number(match?.[1] ?? 0) * 1024;
    } catch {
      return sum;
    }
  }, 0);
}

export const MB = 1e6;

/** Prints rows as aligned columns; a row without a value has a gap there. */
export function table(rows) {
  const titles = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = [
    titles.map((title) => (title === 'name' ? '' : title)),
    ...rows.map((row) => titles.map((title) => String(row[title] ?? ''))),
  ];
  const widths = titles.map((_, i) => Math.max(...cells.map((line) => line[i].length)));
  const pad = (value, i) => (i === 0 ? value.padEnd(widths[i]) : value.padStart(widths[i]));
  for (const line of cells) console.log(line.map(pad).join('  ').trimEnd());
}
