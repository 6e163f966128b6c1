import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { firstToken } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { shapeOf } from './config.js';

/** timm's AttentionPoolLatent: a learned token that looks at these, float32 [rows, tokens, width] -> [rows, width]. */
export function attentionPool(
  g: GraphWriter,
  x: Value,
  { heads, epsilon, act }: { heads: number; epsilon: number; act: string },
): Value {
  const at = (name: string) => `attn_pool.${name}`;
  const [, , width] = shapeOf(g, at('latent'), 3);
  const [inner] = shapeOf(g, at('mlp.fc1.weight'), 2);
  const query = linear(g, g.weight(at('latent'), [1, 1, width]), at('q'), { from: width, to: width });
  const both = linear(g, x, at('kv'), { from: width, to: 2 * width });
  const [key, value] = g.nodes('Split', [both, g.ints([width, width])], {
    ...{ outputs: 2, attributes: { axis: -1 } },
  }) as [Value, Value];
  const rows = g.node('Shape', [x], { start: 0, end: 1 });
  const asked = g.node('Expand', [query, g.node('Concat', [rows, g.ints([1, width])], { axis: 0 })]);
  const found = attention(g, { query: asked, key, value }, { heads, width });
  const seen = linear(g, found, at('proj'), { from: width, to: width });
  const read = layerNorm(g, seen, at('norm'), { width, epsilon });
  const wide = activation(g, linear(g, read, at('mlp.fc1'), { from: width, to: inner }), act);
  return firstToken(g, g.node('Add', [seen, linear(g, wide, at('mlp.fc2'), { from: inner, to: width })]));
}
