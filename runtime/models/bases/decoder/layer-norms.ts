import { activation } from '../../layers/activation.js';
import { linear } from '../../layers/linear.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';

interface TwoLayers {
  names: readonly [wide: string, narrow: string];
  bias: boolean;
}

/** Two layers with an activation between them, in place of gated ones. */
export const twoLayers =
  (c: { hidden_size: number; intermediate_size: number; hidden_act: string }, { names, bias }: TwoLayers) =>
  (g: GraphWriter, x: Value, at: (name: string) => string): Value => {
    const [width, inner] = [c.hidden_size, c.intermediate_size];
    const wide = linear(g, x, at(`mlp.${names[0]}`), { from: width, to: inner, bias });
    return linear(g, activation(g, wide, c.hidden_act), at(`mlp.${names[1]}`), {
      ...{ from: inner, to: width, bias },
    });
  };
