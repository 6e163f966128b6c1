import { RunError } from './errors.js';

export interface TooLong {
  /** What is too long, e.g. `the prompt has`. */
  subject: string;
  tokens: number;
  /** Tokens that the model takes, at least one of the answer included. */
  context: number;
}

/** A prompt that leaves no room for an answer. Gateways recognise it by its message. */
export function contextTooLong({ subject, tokens, context }: TooLong): RunError {
  const excess = tokens + 1 - context;
  return new RunError(
    'unprocessable',
    `${subject} ${tokens} tokens, ${excess} too many: this model takes ${context} with at least one token of answer`,
  );
}

/** The model's context in tokens, if the error is that of `contextTooLong`. */
export function exceededContext({ code, message }: RunError): number | undefined {
  const found = /^[\w ]+ \d+ tokens, \d+ too many: this model takes (\d+) with at least one token/.exec(
    message,
  );
  return code === 'unprocessable' && found ? Number(found[1]) : undefined;
}
