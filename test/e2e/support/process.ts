import { spawn } from 'node:child_process';

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface ProcessOptions {
  /** Added to the environment. */
  env?: Record<string, string>;
  /** When the program is killed; by default after ten minutes. What a machine takes longer for is no fault of the program. */
  timeoutMs?: number;
  cwd?: string;
}

/** Runs a program to its end, whatever its exit code. @throws with what it said when it takes too long */
export function run(command: string, args: string[], options: ProcessOptions = {}): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const { env, cwd, timeoutMs = 10 * 60_000 } = options;
    const child = spawn(command, args, { env: { ...process.env, ...env }, cwd });
    const late = setTimeout(() => {
      child.kill();
      reject(new Error(`${command} ${args.join(' ')} is not done after ${timeoutMs / 1000} s:\n${stderr}`));
    }, timeoutMs);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child
      .once('error', reject)
      .once('close', (code) => resolve({ code, stdout, stderr }))
      .once('close', () => clearTimeout(late));
  });
}

/** The built command line, as an operator starts it. */
export function builder(args: string[], options: ProcessOptions = {}): Promise<Finished> {
  return run(process.execPath, ['dist/builder/main.js', ...args], options);
}

/** The docker CLI. @throws when it fails */
export async function docker(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run('docker', args);
  if (code !== 0) throw new Error(`docker ${args.join(' ')}: ${stderr.trim()}`);
  return stdout.trim();
}
