import { lookUp, type Parser, type Scope } from './parser.js';
import { fail, isJinjaObject, iterate, type Value } from './values.js';

/** What a value is assigned to: a name, a namespace's attribute, or several for the items of a sequence. */
export type Target = { name: string; attribute?: string } | { items: Target[] };

export interface TargetOptions {
  /** `set` may change namespaces. */
  namespaces?: boolean;
}

/** Names between commas, with or without brackets around them. */
export function target(parser: Parser, options: TargetOptions = {}): Target {
  const first = single(parser, options);
  if (!parser.is('operator', ',')) return first;
  const items = [first];
  while (parser.take('operator', ',') && (parser.is('name') || parser.is('operator', '('))) {
    if (parser.is('name', 'in')) break;
    items.push(single(parser, options));
  }
  return { items };
}

function single(parser: Parser, options: TargetOptions): Target {
  if (parser.take('operator', '(')) {
    const inner = target(parser, options);
    parser.expect('operator', ')');
    return inner;
  }
  const name = parser.expect('name').text;
  if (!options.namespaces || !parser.take('operator', '.')) return { name };
  return { name, attribute: parser.expect('name').text };
}

/** @throws Error for a sequence of another length, and attributes of what is no namespace */
export function assign(to: Target, value: Value, scope: Scope): void {
  if ('items' in to) assignAll(to.items, value, scope);
  else if (to.attribute === undefined) scope.variables.set(to.name, value);
  else {
    const space = lookUp(scope, to.name);
    if (!isJinjaObject(space) || !space.write) fail('cannot assign attribute on non-namespace object');
    space.write(to.attribute, value);
  }
}

function assignAll(targets: Target[], value: Value, scope: Scope): void {
  const items = iterate(value);
  if (items.length !== targets.length) {
    fail(`${targets.length} values to unpack are expected, got ${items.length}`);
  }
  targets.forEach((one, i) => assign(one, items[i], scope));
}
