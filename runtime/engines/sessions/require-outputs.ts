import { RunError } from '../../core/errors.js';
import type { Port } from './tensors.js';

/** @throws RunError `not_ready` for a graph that lacks one of these outputs */
export function requireOutputs(outputs: readonly Port[], needed: readonly string[]): void {
  const names = outputs.map(({ name }) => name);
  if (needed.every((name) => names.includes(name))) return;
  throw new RunError('not_ready', `the graph gives ${names.join(', ')}, not ${needed.join(' and ')}`);
}
