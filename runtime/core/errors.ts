/** HTTP status of every error that a caller can see. No other code chooses a status. */
export const STATUS = {
  invalid_input: 400,
  unauthorized: 401,
  /** The page or the name that the request came by is not trusted. From the gateway's console only. */
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  /** It can't be done as this gateway is set up. From the gateway's console only. */
  conflict: 409,
  payload_too_large: 413,
  unsupported_media: 415,
  unprocessable: 422,
  rate_limited: 429,
  engine_failed: 500,
  /** A server that others run can't be used, or answers what nobody can read. From gateways only. */
  remote_failed: 502,
  /** The server stops and has not begun with this request: it may go to another one. */
  stopping: 503,
  engine_crashed: 503,
  not_ready: 503,
  overloaded: 503,
  timeout: 504,
  /** The caller has left; the status is for log and metrics only. */
  cancelled: 499,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof STATUS;

/** Codes that only the gateway's console answers: models never do. */
export const CONSOLE_CODES: ReadonlySet<string> = new Set<ErrorCode>(['forbidden', 'conflict']);

/** Codes whose answers have Retry-After. */
const RETRYABLE: ReadonlySet<ErrorCode> = new Set([
  'rate_limited',
  'stopping',
  'engine_crashed',
  'not_ready',
  'overloaded',
] as const);

export interface RunErrorOptions {
  cause?: unknown;
  /** Seconds for the Retry-After header; 1 by default for retryable codes. */
  retryAfter?: number;
  reason?: ErrorReason | undefined;
}

/** Tells errors of one code apart, for metrics. `not_finite`: the model computed NaN or Infinity. */
export type ErrorReason = 'not_finite';

/**
 * The error for callers, also passed between the processes. The message names the field or the limit and never holds a
 * path, a secret or a stack trace.
 */
export class RunError extends Error {
  readonly code: ErrorCode;
  readonly retryAfter: number | undefined;
  readonly reason: ErrorReason | undefined;

  constructor(code: ErrorCode, message: string, options: RunErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'RunError';
    this.code = code;
    this.reason = options.reason;
    this.retryAfter = options.retryAfter ?? (RETRYABLE.has(code) ? 1 : undefined);
  }

  get status(): number {
    return STATUS[this.code];
  }
}

/** A RunError as a message between the two processes. */
export interface WireError {
  code: ErrorCode;
  message: string;
  reason?: ErrorReason;
  /** For the log only, never for the caller. */
  detail?: string;
}

export function toWireError(error: unknown): WireError {
  if (error instanceof RunError) {
    const { code, message, reason, cause } = error;
    const detail = cause === undefined ? undefined : describe(cause);
    return { code, message, ...(reason && { reason }), ...(detail === undefined ? {} : { detail }) };
  }
  return { code: 'engine_failed', message: 'the model failed on this request', detail: describe(error) };
}

export function fromWireError(error: WireError): RunError {
  return new RunError(error.code, error.message, { cause: error.detail, reason: error.reason });
}

/** Text of any thrown value. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.stack ?? error.message;
}
