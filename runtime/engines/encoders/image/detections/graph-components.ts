export interface Edge {
  from: number;
  to: number;
  confidence: number;
}

/** Nodes that edges reach from one, along or against them. */
function reached(start: number, next: readonly (readonly number[])[]): Set<number> {
  const found = new Set([start]);
  // What is added while it is walked is walked, too.
  for (const node of found) for (const other of next[node]!) found.add(other);
  return found;
}

function neighbours(count: number, edges: readonly Edge[]) {
  const ahead: number[][] = Array.from({ length: count }, () => []);
  const back: number[][] = Array.from({ length: count }, () => []);
  for (const { from, to } of edges) {
    ahead[from]!.push(to);
    back[to]!.push(from);
  }
  return { ahead, back };
}

/** Of each node, which set of nodes it lies on a cycle with. */
export function strongComponents(count: number, edges: readonly Edge[]): Int32Array {
  const { ahead, back } = neighbours(count, edges);
  const component = new Int32Array(count).fill(-1);
  for (let node = 0; node < count; node++) {
    if (component[node] !== -1) continue;
    const before = reached(node, back);
    for (const other of reached(node, ahead)) if (before.has(other)) component[other] = node;
  }
  return component;
}

/** Sets of nodes that edges connect, whatever their direction; each in order. */
export function weakComponents(count: number, edges: readonly Edge[]): number[][] {
  const { ahead, back } = neighbours(count, edges);
  const both = ahead.map((next, node) => [...next, ...back[node]!]);
  const seen = new Set<number>();
  const found: number[][] = [];
  for (let node = 0; node < count; node++) {
    if (seen.has(node)) continue;
    const part = reached(node, both);
    for (const other of part) seen.add(other);
    found.push([...part].sort((a, b) => a - b));
  }
  return found;
}
