/** CPU time from /proc, in seconds. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tree } from '../lib.mjs';

const TICKS = Number(execFileSync('getconf', ['CLK_TCK']));

/** User and system time of one process. */
function ofProcess(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  } catch {
    return 0;
  }
}

export const cpuOfTree = (pid) => tree(pid).reduce((sum, each) => sum + ofProcess(each), 0);

/** What all processes of the machine have used. */
export function cpuOfMachine() {
  const [, ...fields] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0].trim().split(/\s+/).map(Number);
  const [user, nice, system, , , irq, softirq] = fields;
  return (user + nice + system + irq + softirq) / TICKS;
}
