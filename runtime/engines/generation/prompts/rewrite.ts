/** A node of a template's syntax tree, as far as we look at it. */
export interface Node {
  type: string;
  [key: string]: unknown;
}

/** Puts what `change` gives into the place of each node, from the leaves up and in place. */
export function rewriteNodes(node: unknown, change: (node: Node) => Node): unknown {
  if (Array.isArray(node)) return node.map((one) => rewriteNodes(one, change));
  // Object literals keep their pairs in a Map.
  if (node instanceof Map) {
    return new Map([...node].map((pair) => rewriteNodes(pair, change) as [unknown, unknown]));
  }
  if (typeof node !== 'object' || node === null) return node;
  const fields = node as Node;
  for (const [key, value] of Object.entries(fields)) fields[key] = rewriteNodes(value, change);
  return change(fields);
}

/** A call of a function that the template gets as a variable. */
export const callOf = (name: string, args: unknown[]): Node => ({
  type: 'CallExpression',
  callee: { type: 'Identifier', value: name },
  args,
});

/** `node is none`, which values handed to functions no longer say; nothing for what is too dear to compute twice. */
export function noneTest(node: unknown): Node[] {
  if (callsSomething(node)) return [];
  return [
    { type: 'TestExpression', operand: node, negate: false, test: { type: 'Identifier', value: 'none' } },
  ];
}

function callsSomething(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false;
  const { type } = node as Node;
  if (type === 'CallExpression' || type === 'FilterExpression') return true;
  const parts = node instanceof Map ? [...node].flat() : Object.values(node);
  return parts.some(callsSomething);
}
