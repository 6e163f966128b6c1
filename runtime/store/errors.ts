export type StoreErrorKind =
  /** No such model, revision or file, or a private one. */
  | 'not_found'
  /** Access must be granted on the model's page first. */
  | 'gated'
  /** The token is wrong. */
  | 'unauthorized'
  | 'rate_limited'
  /** No connection, a broken one, a time-out, or a hub that answers 5xx. */
  | 'network'
  /** Bytes that are not what the listing announced. */
  | 'corrupt'
  | 'no_space'
  | 'permission'
  /** The disk or the system refuses for another reason. */
  | 'storage'
  /** A name, a listing or a file that makes no sense. */
  | 'invalid';

export interface StoreErrorOptions {
  /** What the operator does about it; becomes part of the message. */
  remedy?: string;
  cause?: unknown;
  /** Milliseconds that the hub asked to wait. */
  retryAfterMs?: number | undefined;
  /** Of the hub's answer. */
  status?: number | undefined;
}

/** Anything that keeps a model's files from being listed, fetched or used. The message never holds a token. */
export class StoreError extends Error {
  override name = 'StoreError';
  readonly kind: StoreErrorKind;
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;

  constructor(kind: StoreErrorKind, reason: string, options: StoreErrorOptions = {}) {
    super(options.remedy ? `${reason}; ${options.remedy}` : reason, { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
  }

  /** True when the same call may work a little later. */
  get retryable(): boolean {
    return this.kind === 'network' || this.kind === 'rate_limited';
  }
}

interface WriteProblem {
  kind: StoreErrorKind;
  reason: string;
  /** What helps, where another folder is not the answer. */
  remedy?: string;
}

const IN_THE_WAY = 'move away what lies there';
const LIMIT = 'raise the limit of open files (ulimit -n) for this process';

const WRITE_PROBLEMS: Record<string, WriteProblem> = {
  ENOSPC: { kind: 'no_space', reason: 'the disk is full' },
  EDQUOT: { kind: 'no_space', reason: 'the disk quota is used up' },
  EFBIG: { kind: 'no_space', reason: 'the file system or a limit (ulimit -f) takes no file of that size' },
  EACCES: { kind: 'permission', reason: 'this user may not write there' },
  EPERM: { kind: 'permission', reason: 'this user may not write there' },
  EROFS: { kind: 'permission', reason: 'the file system is read-only' },
  ENOTSUP: { kind: 'storage', reason: 'that file system takes no folders' },
  ENOTDIR: { kind: 'storage', reason: 'a file lies where a folder belongs', remedy: IN_THE_WAY },
  EEXIST: { kind: 'storage', reason: 'a file lies where a folder belongs', remedy: IN_THE_WAY },
  EISDIR: { kind: 'storage', reason: 'a folder lies where a file belongs', remedy: IN_THE_WAY },
  ENOTEMPTY: { kind: 'storage', reason: 'a folder lies where a file belongs', remedy: IN_THE_WAY },
  ENOENT: { kind: 'storage', reason: 'it was removed meanwhile', remedy: 'try again' },
  ELOOP: { kind: 'storage', reason: 'a link lies there that leads to itself', remedy: IN_THE_WAY },
  EMFILE: { kind: 'storage', reason: 'this process has too many files open', remedy: LIMIT },
  ENFILE: { kind: 'storage', reason: 'this machine has too many files open', remedy: LIMIT },
  EIO: { kind: 'storage', reason: 'the disk reports an error', remedy: 'check the disk and the system log' },
  ESTALE: { kind: 'storage', reason: 'the network share is gone', remedy: 'mount it again' },
};

/** What to do about a model folder of an image that can't be written. */
export const WRITABLE_REMEDY = 'mount a writable volume at /server/model, or build with --bake';

/**
 * A failed write as a StoreError where the operator can do something about it; other errors come back as they are.
 * @param elsewhere remedy: where to write instead
 */
export function writeError(error: unknown, where: string, elsewhere = WRITABLE_REMEDY): unknown {
  const { code, path } = (error ?? {}) as NodeJS.ErrnoException;
  const problem = WRITE_PROBLEMS[code ?? ''];
  if (!problem || error instanceof StoreError) return error;
  const remedy = problem.kind === 'no_space' ? `free some space, or ${elsewhere}` : elsewhere;
  const place = problem.kind === 'storage' && path !== undefined ? path : where;
  return new StoreError(problem.kind, `can't write ${place}: ${problem.reason}`, {
    remedy: problem.remedy ?? remedy,
    cause: error,
  });
}
