/**
 * A container that nothing leads out of and nothing into: no network, no published port, no health check. Where the
 * engine's machine knows IPv6, so does its loopback: attempts to reach such addresses count like others.
 */
export interface IsolatedOptions {
  image: string;
  env: Record<string, string>;
  /** Limit of memory, without swap beyond it; the engine's own when absent. */
  memoryBytes?: number;
  /** Root file system read-only, with an empty /tmp in memory. */
  readOnly?: boolean;
  /** Replaces what the image runs. */
  entrypoint?: readonly string[];
  /** Receives stdout and stderr from the first byte. */
  onOutput?: (text: string) => void;
}

export interface ExecOptions {
  /** Sent to the program, then its stdin is closed. */
  stdin?: string | Buffer;
  /** Added to the container's environment, for this program only. */
  env?: Record<string, string>;
  /** The image's own when absent, e.g. `0`. */
  user?: string;
  signal?: AbortSignal;
}

export interface ExecResult {
  code: number;
  stdout: Buffer;
  stderr: string;
}

export interface IsolatedContainer {
  id: string;
  /** Runs a program inside. @throws BuilderError `failure` when the container has ended */
  exec(command: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /** @returns the exit status once the container has ended */
  wait(): Promise<number>;
  /** SIGTERM, then SIGKILL after the given seconds. No error when it has ended already. */
  stop(graceSeconds: number): Promise<void>;
  /** Ends it and takes it away with its anonymous volumes. No error when it is gone. */
  remove(): Promise<void>;
}
