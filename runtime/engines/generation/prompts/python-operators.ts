import { printable } from './python-output.js';
import { equal } from './python-values.js';
import { callOf, type Node, noneTest } from './rewrite.js';

const [EQUAL, UNEQUAL] = ['python_equal', 'python_unequal'];

/** What to hand to a template whose operators have been rewritten. */
export const OPERATOR_VARIABLES = {
  [EQUAL]: same,
  [UNEQUAL]: (...sides: Sides) => !same(...sides),
};

type Sides = [left: unknown, right: unknown, leftIsNone?: boolean, rightIsNone?: boolean];

function same(left: unknown, right: unknown, leftIsNone?: boolean, rightIsNone?: boolean): boolean {
  const known = leftIsNone !== undefined && rightIsNone !== undefined;
  if (known && leftIsNone !== rightIsNone) return false;
  return equal(left, right);
}

/** == compares as Python does (the library says that '' equals false), and ~ joins what Python would print. */
export function pythonOperator(node: Node): Node {
  if (node.type !== 'BinaryExpression') return node;
  const { left, right } = node;
  const operator = (node['operator'] as { value: string }).value;
  if (operator === '~') return { ...node, left: printable(left as Node), right: printable(right as Node) };
  const name = { '==': EQUAL, '!=': UNEQUAL }[operator];
  if (!name) return node;
  const none = [noneTest(left), noneTest(right)];
  return callOf(name, [left, right, ...(none.every((tests) => tests.length > 0) ? none.flat() : [])]);
}
