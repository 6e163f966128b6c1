import { type CallArguments, type Callable, fail, type Value } from './values.js';

/** A function of Python's or Jinja's, whose arguments may be named. */
export interface NativeFunction {
  /** Names of the arguments behind the first; `*` takes all that follow. */
  readonly names: readonly string[];
  run(self: Value, ...args: Value[]): Value;
}

/** Puts arguments into the order of their names; those not given are undefined. */
export function orderArguments(names: readonly string[], { positional, named }: CallArguments): Value[] {
  if (positional.length > names.length && !names.includes('*')) {
    fail(`takes at most ${names.length} arguments (${positional.length} given)`);
  }
  const arranged = [...positional];
  for (const [name, value] of named) {
    const at = names.indexOf(name);
    if (at < 0) fail(`got an unexpected keyword argument '${name}'`);
    arranged[at] = value;
  }
  return arranged;
}

export const native = (names: string, run: NativeFunction['run']): NativeFunction => ({
  names: names === '' ? [] : names.split(' '),
  run,
});

/** The function as a method of a value. */
export const bindMethod =
  ({ names, run }: NativeFunction, self: Value): Callable =>
  (args) =>
    run(self, ...orderArguments(names, args));
