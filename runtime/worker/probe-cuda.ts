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
      let answer: string | undefined = 'the GPU probe died';
      child.on('message', (message) => (answer = (message as { problem?: string }).problem));
      child.on('exit', () => {
        clearTimeout(timer);
        resolve(answer);
      });
    });
}
