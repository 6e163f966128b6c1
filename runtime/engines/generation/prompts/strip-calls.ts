/** A node of the template's syntax tree, as far as we look at it. */
interface Node {
  type: string;
  [key: string]: unknown;
}

/** Python's str.strip(chars) and its one-sided forms, by the names under which templates find them here. */
export const STRIP_FUNCTIONS: Record<string, (text: string, chars: string) => string> = {
  strip: (text, chars) => stripEnd(stripStart(text, chars), chars),
  lstrip: stripStart,
  rstrip: stripEnd,
};

const nameOf = (method: string): string => `python_${method}`;

/** What to hand to a template whose calls have been rewritten. */
export const STRIP_VARIABLES = Object.fromEntries(
  Object.entries(STRIP_FUNCTIONS).map(([method, run]) => [nameOf(method), run]),
);

/**
 * Turns `text.strip(chars)` into a call of ours, in place: the library's methods ignore their argument and strip all
 * white space, which real templates (reasoning models) don't want.
 */
export function rewriteStripCalls(node: unknown): void {
  if (Array.isArray(node)) node.forEach(rewriteStripCalls);
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
  // Object literals keep their pairs in a Map.
  if (node instanceof Map) return rewriteStripCalls([...node.entries()].flat());
  rewriteCall(node as Node);
  Object.values(node).forEach(rewriteStripCalls);
}

function rewriteCall(node: Node): void {
  if (node.type !== 'CallExpression') return;
  const callee = node['callee'] as Node;
  const args = node['args'] as Node[];
  const method = (callee['property'] as Node | undefined)?.['value'];
  if (callee.type !== 'MemberExpression' || callee['computed'] === true || args.length === 0) return;
  if (typeof method !== 'string' || !Object.hasOwn(STRIP_FUNCTIONS, method)) return;
  node['args'] = [callee['object'], ...args];
  node['callee'] = { type: 'Identifier', value: nameOf(method) };
}

function stripStart(text: string, chars: string): string {
  let start = 0;
  while (start < text.length && chars.includes(text[start]!)) start++;
  return text.slice(start);
}

function stripEnd(text: string, chars: string): string {
  let end = text.length;
  while (end > 0 && chars.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}
