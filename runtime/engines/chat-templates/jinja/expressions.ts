import { negated, OPERATORS } from './operators.js';
import type { Cursor, Expression, Parser, Scope } from './parser.js';
import { filtered, postfix } from './postfix.js';
import { primary } from './primary.js';
import { numberOf, truthy, type Value } from './values.js';

type Level = (parser: Parser) => Expression;

/** Jinja's expressions, each level binding tighter than the one before. */
export function expression(parser: Parser, whole = true): Expression {
  const value = either(parser);
  if (!whole || !parser.take('name', 'if')) return value;
  const test = either(parser);
  const otherwise = parser.take('name', 'else') ? expression(parser) : undefined;
  return (scope) => (truthy(test(scope)) ? value(scope) : otherwise?.(scope));
}

const either: Level = (parser) => {
  let left = both(parser);
  while (parser.take('name', 'or')) {
    const [one, other] = [left, both(parser)];
    left = (scope) =>
      orElse(
        one(scope),
        (value) => truthy(value),
        () => other(scope),
      );
  }
  return left;
};

const both: Level = (parser) => {
  let left = not(parser);
  while (parser.take('name', 'and')) {
    const [one, other] = [left, not(parser)];
    left = (scope) =>
      orElse(
        one(scope),
        (value) => !truthy(value),
        () => other(scope),
      );
  }
  return left;
};

const orElse = (value: Value, stays: (value: Value) => boolean, other: () => Value): Value =>
  stays(value) ? value : other();

function not(parser: Parser): Expression {
  if (!parser.take('name', 'not')) return comparison(parser);
  const value = not(parser);
  return (scope) => !truthy(value(scope));
}

/** `a < b < c` compares each two neighbours. */
function comparison(parser: Parser): Expression {
  const first = sum(parser);
  const rest: { operator: string; right: Expression }[] = [];
  for (let operator = comparator(parser); operator; operator = comparator(parser)) {
    rest.push({ operator, right: sum(parser) });
  }
  if (rest.length === 0) return first;
  return (scope) => {
    let left = first(scope);
    return rest.every(({ operator, right }) => {
      const [before, value] = [left, right(scope)];
      left = value;
      return OPERATORS[operator]!(before, value);
    });
  };
}

function comparator(parser: Cursor): string | undefined {
  for (const operator of ['==', '!=', '<=', '>=', '<', '>']) {
    if (parser.take('operator', operator)) return operator;
  }
  if (parser.take('name', 'in')) return 'in';
  if (!parser.is('name', 'not') || !parser.is('name', 'in', 1)) return undefined;
  parser.expect('name', 'not');
  parser.expect('name', 'in');
  return 'not in';
}

/** Operators of one level, from the left. */
const chain =
  (operators: readonly string[], next: Level): Level =>
  (parser) => {
    let left = next(parser);
    for (;;) {
      const operator = operators.find((one) => parser.take('operator', one));
      if (!operator) return left;
      const [one, other] = [left, next(parser)];
      left = (scope) => OPERATORS[operator]!(one(scope), other(scope));
    }
  };

const power = chain(['**'], (parser) => unary(parser));
const product = chain(['*', '//', '/', '%'], power);
const sum = chain(['+', '-'], chain(['~'], product));

function unary(parser: Parser, filters = true): Expression {
  const begun = postfix(parser, signed(parser) ?? primary(parser));
  return filters ? filtered(parser, begun) : begun;
}

function signed(parser: Parser): Expression | undefined {
  const minus = parser.take('operator', '-');
  if (!minus && !parser.take('operator', '+')) return undefined;
  const value = unary(parser, false);
  return (scope: Scope) => (minus ? negated(value(scope)) : plus(value(scope)));
}

const plus = (value: Value): Value => (typeof value === 'boolean' ? numberOf(value) : value);
