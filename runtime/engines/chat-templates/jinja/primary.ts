import { type Expression, lookUp, type Parser, type Scope } from './parser.js';
import { fail, isMarkup, textOf, tuple, type Value } from './values.js';

const CONSTANTS = new Map<string, Value>([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
]);

const constant =
  (value: Value): Expression =>
  () =>
    value;

export const withLabel = (label: string, run: (scope: Scope) => Value): Expression =>
  Object.assign(run, { label });

/** Names, literals, and what stands in brackets. */
export function primary(parser: Parser): Expression {
  const name = parser.take('name')?.text;
  if (name !== undefined) return named(name);
  if (parser.is('string')) return text(parser);
  const number = parser.take('number');
  if (number) return constant(number.value);
  if (parser.take('operator', '(')) return inParentheses(parser);
  if (parser.take('operator', '[')) return list(parser);
  parser.expect('operator', '{');
  return dict(parser);
}

function named(name: string): Expression {
  if (CONSTANTS.has(name)) return constant(CONSTANTS.get(name));
  return withLabel(name, (scope) => lookUp(scope, name));
}

/** Texts that stand side by side are one. */
function text(parser: Parser): Expression {
  let whole = '';
  while (parser.is('string')) whole += parser.take('string')!.value as string;
  return constant(whole);
}

function inParentheses(parser: Parser): Expression {
  const expression = sequence(parser, { ends: ')' });
  parser.expect('operator', ')');
  return expression;
}

export interface SequenceOptions {
  /** What may stand behind a comma instead of an item. */
  ends?: string;
  /** False: items are no `… if …`. */
  whole?: boolean;
}

/** One expression, or a tuple of those between commas. */
export function sequence(parser: Parser, { ends, whole = true }: SequenceOptions = {}): Expression {
  const isOver = () => parser.is('end') || (ends !== undefined && parser.is('operator', ends));
  if (isOver()) return ends === undefined ? fail('Expected an expression') : () => tuple([]);
  const first = parser.expression(whole);
  if (!parser.is('operator', ',')) return first;
  const items = [first];
  while (parser.take('operator', ',') && !isOver()) items.push(parser.expression(whole));
  return (scope) => tuple(items.map((item) => item(scope)));
}

function list(parser: Parser): Expression {
  const items: Expression[] = [];
  while (!parser.take('operator', ']')) {
    items.push(parser.expression());
    if (!parser.is('operator', ']')) parser.expect('operator', ',');
  }
  return (scope) => items.map((item) => item(scope));
}

function dict(parser: Parser): Expression {
  const pairs: [Expression, Expression][] = [];
  while (!parser.take('operator', '}')) {
    const key = parser.expression();
    parser.expect('operator', ':');
    pairs.push([key, parser.expression()]);
    if (!parser.is('operator', '}')) parser.expect('operator', ',');
  }
  return (scope) => new Map(pairs.map(([key, value]) => [keyOf(key(scope)), value(scope)]));
}

function keyOf(key: Value): Value {
  if (Array.isArray(key) || key instanceof Map) fail('unhashable key');
  return isMarkup(key) ? textOf(key) : key;
}
