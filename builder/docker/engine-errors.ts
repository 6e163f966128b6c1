import { BuilderError } from '../exit.js';

/** Errors of the client library: with a status if the engine answered, with a code if the connection failed. */
export interface EngineError extends Error {
  statusCode?: number;
  code?: string;
  json?: { message?: string };
  syscall?: string;
}

/** The value, or undefined when the engine answers 404. */
export async function isNotFound<T>(found: Promise<T>): Promise<T | undefined> {
  return found.catch((error: EngineError) => {
    if (error.statusCode === 404) return undefined;
    throw error;
  });
}

const UNREACHABLE = new Set([
  'ENOENT',
  'ECONNREFUSED',
  'EACCES',
  'EPERM',
  'ECONNRESET',
  'ENOTFOUND',
  'EHOSTUNREACH',
]);

/** Runs a call to the engine. @throws BuilderError with a remedy */
export async function withEngineErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw explainEngineError(error as EngineError);
  }
}

/** Converts errors of the client library; our own errors are returned unchanged. */
export function explainEngineError(error: EngineError): Error {
  if (error instanceof BuilderError) return error;
  // With a status, the engine has answered.
  if (error.statusCode === undefined && error.syscall !== 'open' && UNREACHABLE.has(error.code ?? '')) {
    const remedy =
      error.code === 'EACCES' || error.code === 'EPERM'
        ? 'this user may not use the Docker socket: join the group "docker" or run as root'
        : 'start Docker (e.g. "systemctl start docker") or set DOCKER_HOST; "builder serve" works without it';
    return new BuilderError('docker', `no Docker Engine answers (${error.code}): ${remedy}`, {
      cause: error,
    });
  }
  return new BuilderError('failure', `Docker: ${error.json?.message ?? error.message}`, { cause: error });
}
