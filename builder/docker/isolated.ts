/**
 * A container without a network, published ports and health check. If the engine's machine supports IPv6, its loopback
 * does too, so that attempts to reach IPv6 addresses are counted.
 */
export interface IsolatedOptions {
  image: string;
  env: Record<string, string>;
  /** Memory limit, without additional swap; the engine's default when absent. */
  memoryBytes?: number;
  /** Root file system read-only, with an empty /tmp in memory. */
  readOnly?: boolean;
  /** Read-only bind mounts: path of the engine's machine to path inside. */
  mounts?: Readonly<Record<string, string>>;
  /** Replaces the image's entrypoint. */
  entrypoint?: readonly string[];
  /** Receives stdout and stderr from the first byte. */
  onOutput?: (text: string) => void;
}

export interface ExecOptions {
  /** Written to the program's stdin, which is then closed. */
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
  /** Kills and removes it with its anonymous volumes. No error if it does not exist. */
  remove(): Promise<void>;
}
