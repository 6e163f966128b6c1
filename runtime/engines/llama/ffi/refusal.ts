import { RunError } from '../../../core/errors.js';

/** Paths are not for callers. */
const PATH = /'?(?:\/[^\s'":]+)+'?/g;

/** @param lines what the library said */
export function refusal(what: string, lines: readonly string[]): RunError {
  const said = lines
    .map((line) => line.replace(/^[a-z_0-9]+:\s*/i, '').replace(PATH, 'the file'))
    .filter((line) => line !== '');
  const reason = said[0] ?? 'it does not say why';
  return new RunError('not_ready', `${what}: ${reason}`, { cause: new Error(lines.join('\n')) });
}
