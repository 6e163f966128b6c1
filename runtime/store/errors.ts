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
  /** A name, a listing or a file that makes no sense. */
  | 'invalid';

export interface StoreErrorOptions {
  /** What the operator does about it; becomes part of the message. */
  remedy?: string;
  cause?: unknown;
  /** Milliseconds that the hub asked to wait. */
  retryAfterMs?: number;
}

/** Anything that keeps a model's files from being listed, fetched or used. The message never holds a token. */
export class StoreError extends Error {
  override name = 'StoreError';
  readonly kind: StoreErrorKind;
  readonly retryAfterMs: number | undefined;

  constructor(kind: StoreErrorKind, reason: string, options: StoreErrorOptions = {}) {
    super(options.remedy ? `${reason}; ${options.remedy}` : reason, { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
  }

  /** True when the same call may work a little later. */
  get retryable(): boolean {
    return this.kind === 'network' || this.kind === 'rate_limited';
  }
}

const WRITE_PROBLEMS: Record<string, { kind: StoreErrorKind; reason: string }> = {
  ENOSPC: { kind: 'no_space', reason: 'the disk is full' },
  EDQUOT: { kind: 'no_space', reason: 'the disk quota is used up' },
  EACCES: { kind: 'permission', reason: 'this user may not write there' },
  EPERM: { kind: 'permission', reason: 'this user may not write there' },
  EROFS: { kind: 'permission', reason: 'the file system is read-only' },
};

export const WRITABLE_REMEDY = 'mount a writable volume at /server/model, or build with --bake';

/** A failed write as a StoreError where the operator can do something about it; other errors come back as they are. */
export function writeProblem(error: unknown, where: string): unknown {
  const problem = WRITE_PROBLEMS[(error as NodeJS.ErrnoException)?.code ?? ''];
  if (!problem || error instanceof StoreError) return error;
  const remedy = problem.kind === 'no_space' ? `free some space, or ${WRITABLE_REMEDY}` : WRITABLE_REMEDY;
  return new StoreError(problem.kind, `can't write ${where}: ${problem.reason}`, { remedy, cause: error });
}
