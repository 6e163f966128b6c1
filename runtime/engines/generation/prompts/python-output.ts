import { type Boxed, isBoxed } from './python-values.js';
import { callOf, type Node, noneTest } from './rewrite.js';

/** Statements of a template; every other node in a body is an expression that is printed. */
const STATEMENTS = new Set([
  ...[
    'Program',
    'If',
    'For',
    'Break',
    'Continue',
    'Set',
    'Macro',
    'Comment',
    'CallStatement',
    'FilterStatement',
  ],
  'StringLiteral',
]);
const BODIES = ['body', 'alternate', 'defaultBlock'];
const NAME = 'python_str';

/** What to hand to a template whose output has been rewritten. */
export const OUTPUT_VARIABLES = { [NAME]: pythonStr };

/**
 * Makes a template print True, lists and dictionaries as Python does, in place: each printed expression becomes a call
 * of ours.
 */
export function rewriteOutput(node: unknown): void {
  if (Array.isArray(node)) node.forEach(rewriteOutput);
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
  const fields = node as Record<string, unknown>;
  for (const key of BODIES) {
    const body = fields[key];
    if (Array.isArray(body)) fields[key] = body.map(printed);
  }
}

function printed(node: Node): Node {
  rewriteOutput(node);
  return STATEMENTS.has(node.type) ? node : printable(node);
}

/** An expression that gives what Python prints for another one. */
export const printable = (node: Node): Node => callOf(NAME, [node, ...noneTest(node)]);

/**
 * What Python prints. Gives numbers and texts back as they are, so that the engine prints them itself.
 * @param isNone None and undefined look the same here; without this, nothing is printed for either
 */
export function pythonStr(value: unknown, isNone = false): unknown {
  if (isNone) return 'None';
  if (isBoxed(value)) return value.type === 'NullValue' ? 'None' : pythonStr(value.value);
  if (value === undefined) return '';
  return typeof value === 'boolean' || typeof value === 'object' ? repr(value) : value;
}

function repr(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(unboxed).join(', ')}]`;
  if (value instanceof Map) {
    return `{${[...value].map(([key, item]) => `${repr(key)}: ${unboxed(item)}`).join(', ')}}`;
  }
  return String(value);
}

function unboxed(item: unknown): string {
  const { type, value } = item as Boxed;
  if (type === 'FloatValue' && Number.isInteger(value)) return `${String(value)}.0`;
  return type === 'TupleValue' ? `(${(value as unknown[]).map(unboxed).join(', ')})` : repr(value);
}

function quoted(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t');
  return text.includes("'") && !text.includes('"') ? `"${escaped}"` : `'${escaped.replaceAll("'", "\\'")}'`;
}
