import { ZodError } from 'zod';

/** Ends the program with a one-line message that says what to do, without a stack trace. */
export class GatewayError extends Error {
  override name = 'GatewayError';
}

/** Describes in one line why a JSON file can't be read, parsed or used. */
export function describeInvalidFile(error: unknown): string {
  if (!(error instanceof ZodError)) return (error as Error).message.split('\n')[0]!;
  const { path, message } = error.issues[0]!;
  return `${path.join('.') || 'its top'}: ${message}`;
}
