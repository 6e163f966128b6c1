import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { byHead } from './split-heads.js';
import { matMulTransposed } from './linear.js';
import type { SourceDecoder } from './cross-decoder.js';

/** An input of graphs that tell how heads look at the source: bool [layers · heads], or of no elements. */
export const HEADS_INPUT = 'attention_heads';
/** Shares of the heads that are true there, in their order: float32 [rows, chosen, tokens, length]. */
export const ATTENTION_OUTPUT = 'source_attention';

/** What a layer's heads compare. */
export interface Look {
  /** float32 [rows, tokens, heads · width] */
  query: Value;
  /** Keys of the source, float32 [rows, heads, length, width]. */
  key: Value;
}

/**
 * Writes how the chosen heads look at the source. Runs that ask for none compute nothing of it. Padding of a source isn't
 * left out, so a run that asks has one row.
 * @param looks of each layer
 */
export function writeSourceAttention(g: GraphWriter, looks: readonly Look[], model: SourceDecoder): void {
  const { heads, headWidth: width, scale = width ** -0.5 } = model;
  const chosen = g.input(HEADS_INPUT, 'bool', ['chosen_from']);
  const shape = ['rows', 'chosen', 'tokens', 'length'];
  const isAsked = g.node('Greater', [g.node('Size', [chosen]), g.ints([0], [])]);
  const shares = g.either(isAsked, shape, {
    yes() {
      const layers = looks.map(({ query, key }, layer) => {
        const bounds = [layer * heads, (layer + 1) * heads].map((place) => g.ints([place]));
        const own = g.node('Slice', [chosen, ...bounds]);
        const [queries, keys] = [byHead(g, query, heads, width), key].map((x) =>
          g.node('Compress', [x, own], { axis: 1 }),
        ) as [Value, Value];
        return g.node('Softmax', [matMulTransposed(g, queries, keys, scale)], { axis: -1 });
      });
      return g.node('Concat', layers, { axis: 1 });
    },
    no: () => g.node('ConstantOfShape', [g.ints([0, 0, 0, 0])]),
  });
  g.output(ATTENTION_OUTPUT, shares, 'float32', shape);
}
