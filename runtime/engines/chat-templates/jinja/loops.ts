import { equal } from './compare.js';
import { type Expression, type Output, type Parser, type Scope, scopeIn, type Statement } from './parser.js';
import { sequence } from './primary.js';
import { assign, type Target, target } from './targets.js';
import { type Callable, fail, iterate, tuple, truthy, type Value } from './values.js';

interface Loop {
  to: Target;
  items: Expression;
  /** Items for which it doesn't hold are left out. */
  test: Expression | undefined;
  recursive: boolean;
  run: Statement;
  otherwise: Statement | undefined;
}

/** `for … in … if … recursive`, with `else` for a loop without items. */
export function forLoop(parser: Parser): Statement {
  const to = target(parser);
  parser.expect('name', 'in');
  const items = sequence(parser, { whole: false });
  const test = parser.take('name', 'if') ? parser.expression() : undefined;
  const recursive = parser.take('name', 'recursive') !== undefined;
  parser.expect('end');
  const { run, end } = parser.body('endfor', 'else');
  const otherwise = end === 'else' ? (parser.expect('end'), parser.body('endfor').run) : undefined;
  const loop = { to, items, test, recursive, run, otherwise };
  return (scope, output) => {
    walk(loop, { values: items(scope), depth: 0 }, scope, output);
    return undefined;
  };
}

function walk(
  loop: Loop,
  { values, depth }: { values: Value; depth: number },
  scope: Scope,
  output: Output,
): void {
  const items = iterate(values).filter((value) => fits(loop, value, scope));
  const changed = changes();
  const call: Callable = ({ positional: [inner] }) => {
    if (!loop.recursive) fail("The loop must have the 'recursive' marker to be called recursively.");
    const printed = { text: '' };
    walk(loop, { values: inner, depth: depth + 1 }, scope, printed);
    return printed.text;
  };
  for (const [index, value] of items.entries()) {
    spend(scope.budget);
    const inner = scopeIn(scope);
    const turn = { items, index, depth, changed };
    assign(loop.to, value, inner);
    inner.variables.set('loop', { read: (name) => attribute(turn, name), call });
    if (loop.run(inner, output) === 'break') break;
  }
  if (items.length === 0) loop.otherwise?.(scope, output);
}

/** Some templates look at all messages for each message. */
function spend(budget: Scope['budget']): void {
  budget.turns -= 1;
  if (budget.turns < 0) fail('its loops take too many turns over so many messages');
}

function fits({ test, to }: Loop, value: Value, scope: Scope): boolean {
  if (!test) return true;
  const inner = scopeIn(scope);
  assign(to, value, inner);
  return truthy(test(inner));
}

/** Where a loop is. */
interface Turn {
  items: Value[];
  index: number;
  depth: number;
  changed: Callable;
}

const ATTRIBUTES: Record<string, (turn: Turn) => Value> = {
  index: ({ index }) => index + 1,
  index0: ({ index }) => index,
  revindex: ({ items, index }) => items.length - index,
  revindex0: ({ items, index }) => items.length - index - 1,
  first: ({ index }) => index === 0,
  last: ({ items, index }) => index === items.length - 1,
  length: ({ items }) => items.length,
  previtem: ({ items, index }) => items[index - 1],
  nextitem: ({ items, index }) => items[index + 1],
  depth: ({ depth }) => depth + 1,
  depth0: ({ depth }) => depth,
  changed: ({ changed }) => changed,
  cycle:
    ({ index }) =>
    ({ positional }) =>
      positional[index % positional.length],
};

const attribute = (turn: Turn, name: string): Value =>
  Object.hasOwn(ATTRIBUTES, name) ? ATTRIBUTES[name]!(turn) : undefined;

/** Whether it was called with other values than the last time. */
function changes(): Callable {
  let last: Value;
  return ({ positional }) => {
    const now = tuple([...positional]);
    const changed = !equal(last, now);
    last = now;
    return changed;
  };
}
