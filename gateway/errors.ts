/** What ends the program with one line that says what to do, and no stack. */
export class GatewayError extends Error {
  override name = 'GatewayError';
}
