import { parse } from '@babel/parser';

/**
 * A fault in a source file: the text between two offsets, replaced.
 * @typedef {{ start: number, end: number, replacement: string, what: string, line: number }} Mutant
 */

const SWAPPED = {
  ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '===': '!==', '!==': '===' },
  ...{ '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '&&': '||', '||': '&&', '+=': '-=', '-=': '+=' },
};

/** What each kind of node may be replaced by, as pairs of node and text. */
const MUTATORS = {
  BinaryExpression: operator,
  AssignmentExpression: operator,
  LogicalExpression: (node, text) =>
    node.operator === '??' ? [[node, text(node.left), 'no default']] : operator(node, text),
  IfStatement: ({ test }) => [
    [test, 'false', 'never'],
    [test, 'true', 'always'],
  ],
  ConditionalExpression: ({ test }, text) => [[test, `!(${text(test)})`, 'the other way round']],
  UnaryExpression: (node, text) =>
    node.operator === '!' ? [[node, `(${text(node.argument)})`, 'not negated']] : [],
  UpdateExpression: (node, text) => {
    const other = node.operator === '++' ? '--' : '++';
    const changed = node.prefix ? `${other}${text(node.argument)}` : `${text(node.argument)}${other}`;
    return [[node, changed, other]];
  },
  BooleanLiteral: (node) => [[node, String(!node.value), 'flipped']],
  NumericLiteral: (node) => [[node, String(node.value + 1), 'one more']],
  AwaitExpression: (node, text) => [[node, `(${text(node.argument)})`, 'not awaited']],
  ExpressionStatement: (node) => [[node, ';', 'left out']],
  ThrowStatement: (node) => [[node, ';', 'not thrown']],
  TryStatement: ({ finalizer }) => (finalizer ? [[finalizer, '{}', 'finally left out']] : []),
};

function operator(node, text) {
  const other = SWAPPED[node.operator];
  const joins = [node.left, node.right].some(({ type }) => /^(?:String|Template)Literal$/.test(type));
  if (!other || (node.operator.startsWith('+') && joins)) return [];
  return [[node, `${text(node.left)} ${other} ${text(node.right)}`, `${node.operator} becomes ${other}`]];
}

/** Every fault that can be planted in a source. @param {string} source TypeScript @returns {Mutant[]} */
export function mutantsOf(source) {
  const { program } = parse(source, { sourceType: 'module', plugins: ['typescript'] });
  const text = ({ start, end }) => source.slice(start, end);
  const found = [];
  visit(program, (node) => {
    for (const [place, replacement, what] of MUTATORS[node.type]?.(node, text) ?? []) {
      const { start, end, loc } = place;
      found.push({ start, end, replacement, what, line: loc.start.line });
    }
  });
  return found;
}

/** Types are no code: of what TypeScript adds, only the expressions in it are looked at. */
function visit(node, see) {
  if (node.type.startsWith('TS')) {
    if (node.expression) visit(node.expression, see);
    return;
  }
  see(node);
  for (const [key, value] of Object.entries(node)) {
    if (key === 'loc' || key === 'typeAnnotation') continue;
    for (const child of [value].flat()) if (typeof child?.type === 'string') visit(child, see);
  }
}

/** @param {Mutant} mutant */
export const planted = (source, { start, end, replacement }) =>
  `${source.slice(0, start)}${replacement}${source.slice(end)}`;
