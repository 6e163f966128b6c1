import type { IsolatedContainer } from '../docker/isolated.js';
import { BuilderError } from '../exit.js';

/** Lines `name value` of /proc/<pid>/status of every process but its own, in kB. */
const READ = `
const { readdirSync, readFileSync } = require('fs');
const found = [];
for (const pid of readdirSync('/proc')) {
  if (!/^\\d+$/.test(pid) || Number(pid) === process.pid) continue;
  let status;
  try { status = readFileSync('/proc/' + pid + '/status', 'utf8'); } catch { continue; }
  const kB = (name) => Number(new RegExp('^' + name + ':\\\\s*(\\\\d+)', 'm').exec(status)?.[1] ?? 0);
  found.push({ peak: kB('VmHWM'), files: kB('RssFile'), now: kB('VmRSS') });
}
console.log(JSON.stringify(found));
`;

/** Memory of one process in kB. */
export interface ProcessMemory {
  /** Most that it ever held. */
  peak: number;
  /** What it holds now. */
  now: number;
  /** Pages of files (programs, libraries, mapped weights) that it holds now. */
  files: number;
}

/**
 * Bytes that the processes of a container have held at most, as far as limits must allow for them: each page of a
 * file counts once, and the kernel's cache of files that were merely read not at all (a cgroup's own peak has it in).
 */
export function peakBytes(processes: readonly Omit<ProcessMemory, 'now'>[]): number {
  const own = processes.reduce((sum, { peak, files }) => sum + Math.max(0, peak - files), 0);
  return (own + Math.max(0, ...processes.map(({ files }) => files))) * 1024;
}

/** The same of what they hold now. */
export function steadyBytes(processes: readonly ProcessMemory[]): number {
  return peakBytes(processes.map(({ now, files }) => ({ peak: now, files })));
}

export interface MeasuredMemory {
  peakBytes: number;
  steadyBytes: number;
}

/** @throws BuilderError `failure` when the container has ended */
export async function memoryInside(container: IsolatedContainer): Promise<MeasuredMemory> {
  const { code, stdout, stderr } = await container.exec(['node', '--eval', READ], {
    env: { NODE_OPTIONS: '' },
  });
  if (code !== 0)
    throw new BuilderError('failure', `the memory of the container can't be read: ${stderr.trim()}`);
  const processes = JSON.parse(stdout.toString('utf8')) as ProcessMemory[];
  return { peakBytes: peakBytes(processes), steadyBytes: steadyBytes(processes) };
}
