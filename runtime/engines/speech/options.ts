import { RunError } from '../../core/errors.js';
import type { AudioOptions } from '../../core/handles/index.js';

/**
 * Refuses what a family of models does not do.
 * @param taken names of what it does
 * @throws RunError 422 that names the parameter
 */
export function refuseOthers(options: AudioOptions, taken: readonly string[]): void {
  const given = Object.keys(options).find((name) => options[name] != null && !taken.includes(name));
  if (given === undefined) return;
  const known = taken.length > 0 ? `it takes ${taken.join(', ')}` : 'it takes none';
  throw new RunError('unprocessable', `params.${given}: this model has no such parameter; ${known}`);
}
