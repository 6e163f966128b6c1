import { RunError } from '../../runtime/core/errors.js';

/** What a provider answers is not as its interface says. @param what is wrong, without words of the provider */
export function malformed(modelId: string, what: string): RunError {
  return new RunError('remote_failed', `the provider of ${modelId} ${what}; try again, or ask its operator`);
}

/** The provider's own filter has ended an answer, which would look whole otherwise. */
export function filtered(modelId: string): RunError {
  return new RunError(
    'unprocessable',
    `the provider of ${modelId} withholds the answer (its content filter)`,
  );
}

/** The provider tells of an error in the middle of a stream. @param message of the provider, already cleaned */
export function brokeOff(modelId: string, message: string): RunError {
  const said = message === '' ? '' : `: ${message}`;
  return new RunError('engine_crashed', `the provider of ${modelId} broke off${said}; try again`);
}

const MOST_CHARACTERS = 500;

/** Words of a provider that may be shown: in one line, bounded, and without the key. */
export function cleaned(text: string, secret: string | undefined): string {
  const whole = secret === undefined ? text : text.replaceAll(secret, '…');
  // eslint-disable-next-line no-control-regex -- these are what has to go
  const line = whole.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line;
}
