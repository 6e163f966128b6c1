import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { activation } from './activation.js';
import { attention } from './attention.js';
import { linear } from './linear.js';
import { layerNorm } from './norm.js';

/** Layers of DETR and its relatives, whose queries and keys get their positions added in every one. */

/** What stands where in a network of this kind. */
export interface NormPlace {
  /** Norms stand before attention and feed-forward, and one behind the encoder. */
  normsBefore: boolean;
}

/** States of tokens, float32 [rows, tokens, width], and what is added to them where they are queries or keys. */
export interface Placed {
  x: Value;
  positions: Value;
}

export interface Part extends NormPlace {
  width: number;
  heads: number;
  inner: number;
  act: string;
  epsilon: number;
  /** int32 [rows, tokens of the source], 0 for padding. */
  padding?: Value;
  /** True where the tokens are the source themselves. */
  isEncoder?: boolean;
}

/** Writers of a layer's parts. */
export function placedParts(g: GraphWriter, name: string, part: Part) {
  const { width, heads, inner, act, epsilon, normsBefore } = part;
  const square = { from: width, to: width };
  const norm = (x: Value, of: string) => layerNorm(g, x, `${name}.${of}`, { width, epsilon });
  const around = (x: Value, of: string, write: (read: Value) => Value) =>
    normsBefore ? g.node('Add', [x, write(norm(x, of))]) : norm(g.node('Add', [x, write(x)]), of);
  const sum = ({ x, positions }: Placed) => g.node('Add', [x, positions]);
  return {
    /** What `write` makes of x, added to it and normed by the norm of this name. */
    around,
    /** Attention of tokens to those of `source`, or to each other. */
    attend: ({ x, positions }: Placed, of: string, source?: Placed) =>
      around(x, `${of}_layer_norm`, (read) => {
        const seen = source ?? { x: read, positions };
        const project = (value: Value, letter: string) =>
          linear(g, value, `${name}.${of}.${letter}_proj`, square);
        const projected = {
          query: project(sum({ x: read, positions }), 'q'),
          key: project(sum(seen), 'k'),
          value: project(seen.x, 'v'),
        };
        // Queries see each other, whatever is padding in their source.
        const isSource = source !== undefined || part.isEncoder;
        const padding = isSource ? part.padding : undefined;
        return project(attention(g, projected, { heads, width, padding }), 'out');
      }),
    feedForward: (x: Value) =>
      around(x, 'final_layer_norm', (read) => {
        const wide = activation(g, linear(g, read, `${name}.fc1`, { from: width, to: inner }), act);
        return linear(g, wide, `${name}.fc2`, { from: inner, to: width });
      }),
  };
}
