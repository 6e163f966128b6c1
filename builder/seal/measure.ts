import type { IsolatedContainer } from '../docker/isolated.js';
import { BuilderError } from '../exit.js';

/** Script that prints lines `name value` of /proc/<pid>/status for all other processes, in kB. */
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
  /** Peak resident memory. */
  peak: number;
  /** Resident memory now. */
  now: number;
  /** File pages in it: programs, libraries, mapped weights. */
  files: number;
}

/**
 * Peak bytes of a container's processes that a limit must allow for: shared file pages count once, and the page cache is
 * not included (it is in the cgroup's own peak).
 */
export function peakBytes(processes: readonly Omit<ProcessMemory, 'now'>[]): number {
  const own = processes.reduce((sum, { peak, files }) => sum + Math.max(0, peak - files), 0);
  return (own + Math.max(0, ...processes.map(({ files }) => files))) * 1024;
}

/** The same for the current memory. */
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
