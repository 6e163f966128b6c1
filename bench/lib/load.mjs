/** Drives the load generator and reads CPU times beside it. */
import { fork } from 'node:child_process';
import { cpuOfMachine, cpuOfTree } from './cpu.mjs';
import { median, percentile, sorted } from './numbers.mjs';

export function startLoad() {
  const child = fork(new URL('load-process.mjs', import.meta.url), { serialization: 'advanced' });
  return { pid: child.pid, run: (job) => runJob(child, job), stop: () => child.kill() };
}

/**
 * One window of load on a contestant (`url`, `pid`). `cpuMs` is CPU time of its whole process tree per answer;
 * `othersCores` is what neither it nor the load generator used of the machine meanwhile.
 */
function runJob(child, { pid, ...job }) {
  const clocks = () => ({
    ...{ at: performance.now(), server: cpuOfTree(pid), load: cpuOfTree(child.pid), machine: cpuOfMachine() },
  });
  const marks = {};
  return new Promise((resolve, reject) => {
    const onMessage = (message) => {
      if (message.window) {
        marks[message.window] = clocks();
        return;
      }
      child.off('message', onMessage);
      if (message.error) reject(new Error(message.error));
      else resolve(summary(message, marks.open, marks.closed));
    };
    child.on('message', onMessage);
    child.send(job);
  });
}

function summary(seen, open, closed) {
  const seconds = (closed.at - open.at) / 1000;
  const used = (key) => closed[key] - open[key];
  const others = used('machine') - used('server') - used('load');
  const tokens = tokensOf(seen.streams);
  return {
    ...{ answers: seen.answers, failed: seen.failed, firstError: seen.firstError, seconds },
    rate: seen.answers / seconds,
    cpuMs: (used('server') * 1000) / seen.answers,
    cpuSeconds: used('server'),
    loadCpuMs: (used('load') * 1000) / seen.answers,
    othersCores: Math.max(0, others) / seconds,
    tokens: tokens / seconds,
    cpuMsPerToken: (used('server') * 1000) / tokens,
    ...percentiles('', seen.times),
    ...percentiles('first', seen.first),
    ...percentiles('gap', seen.gaps),
    ...percentiles('newcomer', seen.newcomer),
  };
}

/** Answers that the end of the window cut are worth what whole ones were, piece by piece. */
function tokensOf(streams) {
  const shares = streams.flatMap(({ share }) => share ?? []);
  const usual = shares.length > 0 ? median(shares) : 1;
  return streams.reduce((sum, { pieces, share }) => sum + pieces * (share ?? usual), 0);
}

function percentiles(prefix, values) {
  const order = sorted(values);
  return Object.fromEntries([50, 95, 99].map((p) => [`${prefix}p${p}`, percentile(order, p / 100)]));
}
