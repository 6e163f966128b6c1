export type StoreErrorKind =
  /** No such model, revision or file, or a private one. */
  | 'not_found'
  /** Access must be granted on the model's page first. */
  | 'gated'
  /** The token is wrong. */
  | 'unauthorized'
  | 'rate_limited'
  /** No connection, a broken one, a timeout, or a 5xx of the hub. */
  | 'network'
  /** The bytes are not those that the listing announced. */
  | 'corrupt'
  | 'no_space'
  | 'permission'
  /** Any other error of the disk or the system. */
  | 'storage'
  /** An invalid name, listing or file. */
  | 'invalid';

export interface StoreErrorOptions {
  /** What the operator should do; part of the message. */
  remedy?: string;
  cause?: unknown;
  /** Milliseconds to wait, as requested by the hub. */
  retryAfterMs?: number | undefined;
  /** HTTP status of the hub. */
  status?: number | undefined;
}

/** Why a model's files can't be listed, fetched or used. The message never holds a token. */
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

  /** True when the same call may succeed later. */
  get retryable(): boolean {
    return this.kind === 'network' || this.kind === 'rate_limited';
  }
}

interface WriteProblem {
  kind: StoreErrorKind;
  reason: string;
  /** Remedy, if another folder would not help. */
  remedy?: string;
}

const MOVE_REMEDY = 'move away what lies there';
const LIMIT_REMEDY = 'raise the limit of open files (ulimit -n) for this process';

const WRITE_PROBLEMS: Record<string, WriteProblem> = {
  ENOSPC: { kind: 'no_space', reason: 'the disk is full' },
  EDQUOT: { kind: 'no_space', reason: 'the disk quota is used up' },
  EFBIG: { kind: 'no_space', reason: 'the file system or a limit (ulimit -f) takes no file of that size' },
  EACCES: { kind: 'permission', reason: 'this user may not write there' },
  EPERM: { kind: 'permission', reason: 'this user may not write there' },
  EROFS: { kind: 'permission', reason: 'the file system is read-only' },
  ENOTSUP: { kind: 'storage', reason: 'that file system takes no folders' },
  ENOTDIR: { kind: 'storage', reason: 'a file lies where a folder belongs', remedy: MOVE_REMEDY },
  EEXIST: { kind: 'storage', reason: 'a file lies where a folder belongs', remedy: MOVE_REMEDY },
  EISDIR: { kind: 'storage', reason: 'a folder lies where a file belongs', remedy: MOVE_REMEDY },
  ENOTEMPTY: { kind: 'storage', reason: 'a folder lies where a file belongs', remedy: MOVE_REMEDY },
  ENOENT: { kind: 'storage', reason: 'it was removed meanwhile', remedy: 'try again' },
  ELOOP: { kind: 'storage', reason: 'a link lies there that leads to itself', remedy: MOVE_REMEDY },
  EMFILE: { kind: 'storage', reason: 'this process has too many files open', remedy: LIMIT_REMEDY },
  ENFILE: { kind: 'storage', reason: 'this machine has too many files open', remedy: LIMIT_REMEDY },
  EIO: { kind: 'storage', reason: 'the disk reports an error', remedy: 'check the disk and the system log' },
  ESTALE: { kind: 'storage', reason: 'the network share is gone', remedy: 'mount it again' },
};

/** Remedy for a model folder of an image that can't be written. */
export const WRITABLE_REMEDY = 'mount a writable volume at /server/model, or build with --bake';

/**
 * Converts a failed write to a StoreError with a remedy; other errors are returned unchanged.
 * @param writeRemedy says where to write instead
 */
export function writeError(error: unknown, where: string, writeRemedy = WRITABLE_REMEDY): unknown {
  const { code, path } = (error ?? {}) as NodeJS.ErrnoException;
  const problem = WRITE_PROBLEMS[code ?? ''];
  if (!problem || error instanceof StoreError) return error;
  const remedy = problem.kind === 'no_space' ? `free some space, or ${writeRemedy}` : writeRemedy;
  const place = problem.kind === 'storage' && path !== undefined ? path : where;
  return new StoreError(problem.kind, `can't write ${place}: ${problem.reason}`, {
    remedy: problem.remedy ?? remedy,
    cause: error,
  });
}
