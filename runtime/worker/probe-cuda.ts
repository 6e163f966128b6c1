import { fork } from 'node:child_process';

/**
 * Tries the GPU in a temporary child process, since a broken driver may crash the process.
 * @param runtime what is to compute on it
 */
export function probeGpuInChild(
  entry: string,
  env: NodeJS.ProcessEnv,
  runtime: 'onnx' | 'llama',
): () => Promise<string | undefined> {
  return () =>
    new Promise((resolve) => {
      const child = fork(entry, [runtime === 'llama' ? '--probe-llama' : '--probe-cuda'], {
        env,
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        execArgv: [],
      });
      const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
      let answer: { problem?: string } | undefined;
      child.on('message', (message) => (answer = message as { problem?: string }));
      child.on('exit', (code, signal) => {
        clearTimeout(timer);
        resolve(answer ? answer.problem : diedOf(code, signal));
      });
    });
}

/** CUDA's and llama.cpp's libraries abort the process where the driver is older than what they were made for. */
const diedOf = (code: number | null, signal: NodeJS.Signals | null): string =>
  `a trial on the GPU ended with ${signal ?? `exit status ${code}`}: its driver may be too old for this build`;
