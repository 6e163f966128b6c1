import { strongComponents, weakComponents, type Edge } from './graph-components.js';

/** Scores of pairs of the boxes that are kept: [boxes, boxes]. */
export interface PairLogits {
  /** Whether the first is read before the second. */
  relative: (first: number, second: number) => number;
  /** Whether the second comes right behind the first, above 0. */
  successor: (first: number, second: number) => number;
}

/** PP-DocLayoutV4: ranks of boxes, by a graph of what comes right behind what, whose parts are ordered by votes. */
export function ranksByGraph(count: number, { relative, successor }: PairLogits): Int32Array {
  const ranks = new Int32Array(count);
  if (count <= 1) return ranks;
  const nodes = Array.from({ length: count }, (_, node) => node);
  const edges: Edge[] = nodes.flatMap((from) =>
    nodes
      .filter((to) => from !== to && successor(from, to) > 0)
      .map((to) => ({ from, to, confidence: successor(from, to) })),
  );
  const kept = withoutCycles(count, edges);
  const score = (first: number, second: number) => (first === second ? 0 : logistic(relative(first, second)));
  const votes = nodes.map((node) => nodes.reduce((sum, other) => sum + score(other, node), 0));
  const parts = weakComponents(count, kept).map((part) => ({
    order: part.length === 1 ? part : sortedPart(part, kept, score),
    vote: part.reduce((sum, node) => sum + votes[node]!, 0) / part.length,
  }));
  parts.sort((a, b) => a.vote - b.vote);
  parts.flatMap(({ order }) => order).forEach((node, rank) => (ranks[node] = rank));
  return ranks;
}

const logistic = (logit: number): number => 1 / (1 + Math.exp(-logit));

/** Edges without the weakest one of each cycle, until there is none. */
function withoutCycles(count: number, given: readonly Edge[]): Edge[] {
  let edges = [...given];
  for (;;) {
    const component = strongComponents(count, edges);
    const weakest = new Map<number, Edge>();
    for (const edge of edges) {
      const own = component[edge.from]!;
      if (own !== component[edge.to]) continue;
      const found = weakest.get(own);
      if (!found || edge.confidence < found.confidence) weakest.set(own, edge);
    }
    if (weakest.size === 0) return edges;
    const dropped = new Set(weakest.values());
    edges = edges.filter((edge) => !dropped.has(edge));
  }
}

/** Nodes behind all that come before them; of several, the one that the others vote first. */
function sortedPart(
  part: readonly number[],
  edges: readonly Edge[],
  score: (first: number, second: number) => number,
): number[] {
  const inside = new Set(part);
  const own = edges.filter(({ from, to }) => inside.has(from) && inside.has(to));
  const waits = new Map(part.map((node) => [node, 0]));
  for (const { to } of own) waits.set(to, waits.get(to)! + 1);
  const order: number[] = [];
  const candidates = part.filter((node) => waits.get(node) === 0);
  while (candidates.length > 0) {
    const best = firstOf(candidates, score);
    candidates.splice(candidates.indexOf(best), 1);
    order.push(best);
    for (const { from, to } of own) {
      if (from !== best) continue;
      waits.set(to, waits.get(to)! - 1);
      if (waits.get(to) === 0) candidates.push(to);
    }
  }
  return order;
}

function firstOf(candidates: readonly number[], score: (first: number, second: number) => number): number {
  let [best, most] = [candidates[0]!, -1];
  for (const candidate of candidates) {
    const sum = candidates.reduce((total, other) => total + score(candidate, other), 0);
    if (sum > most || (sum === most && candidate < best)) [best, most] = [candidate, sum];
  }
  return best;
}
