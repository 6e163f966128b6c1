import { ZodError } from 'zod';

/** What ends the program with one line that says what to do, and no stack. */
export class GatewayError extends Error {
  override name = 'GatewayError';
}

/** One line on a file of JSON that can't be read, parsed or used. */
export function describeInvalidFile(error: unknown): string {
  if (!(error instanceof ZodError)) return (error as Error).message.split('\n')[0]!;
  const { path, message } = error.issues[0]!;
  return `${path.join('.') || 'its top'}: ${message}`;
}
