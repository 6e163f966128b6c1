import type { Box } from '../../../../core/handles/index.js';
import { toFloat32, type Tensors } from '../../../sessions/tensors.js';
import { cornerBox, type Scale } from '../../boxes.js';
import type { Candidate } from './candidates.js';
import { ranksByGraph } from './reading-graph.js';
import { placesByVotes } from './reading-votes.js';

/** Parts of a page are sorted by the order in which they are read. */
export interface LayoutReader {
  /** Outputs beside logits and boxes. */
  needed: readonly string[];
  /** @param kept best first @returns the same in reading order */
  sorted(kept: readonly Candidate[], outputs: Tensors): Candidate[];
  box(boxes: Float32Array, query: number, size: Scale): Box;
}

/** By places of queries; what has one place stays as it was. */
const byPlace = (kept: readonly Candidate[], place: (query: number) => number): Candidate[] =>
  [...kept].sort((a, b) => place(a.query) - place(b.query));

const votes: LayoutReader = {
  needed: ['order_logits'],
  sorted(kept, outputs) {
    const logits = outputs['order_logits']!;
    const places = placesByVotes(toFloat32(logits), logits.dims.at(-1)!);
    return byPlace(kept, (query) => places[query]!);
  },
  box: cornerBox,
};

const graph: LayoutReader = {
  needed: ['relative_order_logits', 'successor_order_logits'],
  sorted(kept, outputs) {
    const queries = [...new Set(kept.map(({ query }) => query))].sort((a, b) => a - b);
    const pairsOf = (name: string) => {
      const [values, count] = [toFloat32(outputs[name]!), outputs[name]!.dims.at(-1)!];
      return (first: number, second: number) => values[queries[first]! * count + queries[second]!]!;
    };
    const [relative, successor] = this.needed.map(pairsOf) as [PairOf, PairOf];
    const ranks = ranksByGraph(queries.length, { relative, successor });
    const places = new Map(queries.map((query, i) => [query, ranks[i]!]));
    return byPlace(kept, (query) => places.get(query)!);
  },
  box: cornersBox,
};
type PairOf = (first: number, second: number) => number;

/** A centre and, with 0.5 added, how far each of four corners lies from it. */
const COORDINATES = 10;

/** The box around four corners, in whole pixels. */
function cornersBox(boxes: Float32Array, query: number, { width, height }: Scale): Box {
  const own = boxes.subarray(COORDINATES * query, COORDINATES * (query + 1));
  const along = (axis: 0 | 1, scale: number) =>
    [0, 1, 2, 3].map((corner) => {
      const offset = Math.fround(own[2 + 2 * corner + axis]! - 0.5);
      return Math.fround(Math.fround(own[axis]! + offset) * scale);
    });
  const [across, down] = [along(0, width), along(1, height)];
  return {
    xmin: Math.trunc(Math.min(...across)) + 0,
    ymin: Math.trunc(Math.min(...down)) + 0,
    xmax: Math.trunc(Math.max(...across)) + 0,
    ymax: Math.trunc(Math.max(...down)) + 0,
  };
}

/** By the name of the image processor. */
export const LAYOUTS: Readonly<Record<string, LayoutReader | undefined>> = {
  ...{ PPDocLayoutV2: votes, PPDocLayoutV3: votes },
  PPDocLayoutV4: graph,
};
