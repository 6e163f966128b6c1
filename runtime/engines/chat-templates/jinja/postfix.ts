import { filter } from './filters.js';
import { attribute, type Bounds, item, slice } from './lookup.js';
import type { Expression, Parser, Scope } from './parser.js';
import { withLabel, primary } from './primary.js';
import { applyTest } from './tests.js';
import { type CallArguments, fail, isJinjaObject, iterate, typeName, type Value } from './values.js';

type Arguments = (scope: Scope) => CallArguments;
const NOTHING: Arguments = () => ({ positional: [], named: new Map() });

/** `.name`, `[key]`, `[from:to]` and calls behind an expression. */
export function postfix(parser: Parser, begun: Expression): Expression {
  let expression = begun;
  for (;;) {
    if (parser.take('operator', '.')) expression = member(parser, expression);
    else if (parser.take('operator', '[')) expression = subscript(parser, expression);
    else if (parser.is('operator', '(')) expression = call(parser, expression);
    else return expression;
  }
}

/** Filters, tests and calls behind an expression. */
export function filtered(parser: Parser, begun: Expression): Expression {
  let expression = begun;
  for (;;) {
    if (parser.is('operator', '|')) expression = filters(parser, expression);
    else if (parser.take('name', 'is')) expression = test(parser, expression);
    else if (parser.is('operator', '(')) expression = call(parser, expression);
    else return expression;
  }
}

const nameOf = ({ label }: Expression): string => label ?? 'the value';

function defined(expression: Expression, scope: Scope): Value {
  const value = expression(scope);
  return value === undefined ? fail(`'${nameOf(expression)}' is undefined`) : value;
}

function member(parser: Parser, of: Expression): Expression {
  const number = parser.take('number');
  if (number) return (scope) => item(defined(of, scope), number.value);
  const { text } = parser.expect('name');
  return withLabel(`${nameOf(of)}.${text}`, (scope) => attribute(defined(of, scope), text));
}

function subscript(parser: Parser, of: Expression): Expression {
  const bounds: (Expression | undefined)[] = [];
  let slices = false;
  for (let i = 0; i < 3 && !parser.is('operator', ']'); i++) {
    if (!parser.is('operator', ':')) bounds[i] = parser.expression();
    if (!parser.take('operator', ':')) break;
    slices = true;
  }
  parser.expect('operator', ']');
  const [key] = bounds;
  if (slices) {
    const at = (scope: Scope) => [0, 1, 2].map((i) => bounds[i]?.(scope)) as Bounds;
    return (scope) => slice(defined(of, scope), at(scope));
  }
  if (!key) fail('expected subscript expression');
  return withLabel(`${nameOf(of)}[…]`, (scope) => item(defined(of, scope), key(scope)));
}

function call(parser: Parser, of: Expression): Expression {
  const given = callArguments(parser);
  const withCaller = (scope: Scope, caller?: Value): Value => {
    const args = given(scope);
    if (caller !== undefined) args.named.set('caller', caller);
    return invoke(defined(of, scope), args);
  };
  return Object.assign((scope: Scope) => withCaller(scope), { withCaller });
}

function invoke(value: Value, args: CallArguments): Value {
  if (typeof value === 'function') return value(args);
  if (isJinjaObject(value) && value.call) return value.call(args);
  return fail(`'${typeName(value)}' object is not callable`);
}

type Part = (args: CallArguments, scope: Scope) => void;

export function callArguments(parser: Parser): Arguments {
  parser.expect('operator', '(');
  const parts: Part[] = [];
  while (!parser.take('operator', ')')) {
    parts.push(argument(parser));
    if (!parser.is('operator', ')')) parser.expect('operator', ',');
  }
  return (scope) => {
    const args = NOTHING(scope);
    for (const part of parts) part(args, scope);
    return args;
  };
}

function argument(parser: Parser): Part {
  if (parser.take('operator', '*')) {
    const items = parser.expression();
    return (args, scope) => args.positional.push(...iterate(items(scope)));
  }
  if (parser.take('operator', '**')) {
    const pairs = parser.expression();
    return (args, scope) => {
      for (const [key, value] of pairs(scope) as Map<string, Value>) args.named.set(key, value);
    };
  }
  if (parser.is('name') && parser.is('operator', '=', 1)) {
    const { text } = parser.expect('name');
    parser.expect('operator', '=');
    const value = parser.expression();
    return (args, scope) => args.named.set(text, value(scope));
  }
  const value = parser.expression();
  return (args, scope) => args.positional.push(value(scope));
}

/** `| name(…) | name`; `inline`: the first bar is left out. */
export function filters(parser: Parser, begun: Expression, inline = false): Expression {
  let expression = begun;
  for (let first = inline; first || parser.take('operator', '|'); first = false) {
    const { text } = parser.expect('name');
    const args = parser.is('operator', '(') ? callArguments(parser) : NOTHING;
    const before = expression;
    expression = (scope) => filter(text, before(scope), args(scope));
  }
  return expression;
}

function test(parser: Parser, of: Expression): Expression {
  const negated = parser.take('name', 'not') !== undefined;
  const { text } = parser.expect('name');
  const argument = testArgument(parser);
  return (scope) => applyTest(text, of(scope), argument(scope)) !== negated;
}

/** In brackets, or the one value behind the name. */
function testArgument(parser: Parser): Expression {
  if (parser.is('operator', '(')) {
    const args = callArguments(parser);
    return (scope) => args(scope).positional[0];
  }
  const goesOn = ['else', 'or', 'and', 'is'].some((word) => parser.is('name', word));
  const begins =
    (['name', 'string', 'number'] as const).some((kind) => parser.is(kind)) ||
    ['[', '{'].some((bracket) => parser.is('operator', bracket));
  return begins && !goesOn ? postfix(parser, primary(parser)) : () => undefined;
}
