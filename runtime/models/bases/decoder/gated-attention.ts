import type { DecoderInputs } from '../../layers/decoder-inputs.js';
import { linear } from '../../layers/linear.js';
import { headNorm } from '../../layers/norm.js';
import type { RotaryConfig } from '../../layers/rope-frequencies.js';
import { selfAttention } from '../../layers/self-attention.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { LayerNames, LlamaLike } from './llama-decoder.js';

interface GatedAttention
  extends LayerNames, Pick<LlamaLike, 'width' | 'heads' | 'keyHeads' | 'headWidth' | 'epsilon'> {
  bias: { projections: boolean };
  normOffset: number;
  rotary: RotaryConfig;
}

/** Attention of normed heads whose answers go through a gate; behind each head of queries stands the one of its gates. Qwen3-Next's. */
export function gatedAttention(
  g: GraphWriter,
  x: Value,
  inputs: DecoderInputs,
  { layer, at, ...c }: GatedAttention,
): Value {
  const { width: from, heads, keyHeads, headWidth: width, epsilon, normOffset: offset } = c;
  const bias = c.bias.projections;
  const project = (name: string, to: number) =>
    linear(g, x, at(`self_attn.${name}_proj`), { from, to, bias });
  const both = g.node('Reshape', [project('q', 2 * heads * width), g.ints([0, 0, heads, 2 * width])]);
  const [query, gate] = g
    .nodes('Split', [both, g.ints([width, width])], { outputs: 2, attributes: { axis: 3 } })
    .map((part) => g.node('Reshape', [part, g.ints([0, 0, heads * width])])) as [Value, Value];
  const normed = (value: Value, name: string, count: number) =>
    headNorm(g, value, at(`self_attn.${name}_norm`), { heads: count, width, epsilon, offset });
  const projected = {
    query: normed(query, 'q', heads),
    key: normed(project('k', keyHeads * width), 'k', keyHeads),
    value: project('v', keyHeads * width),
  };
  const size = { layer, heads, keyHeads, width, scale: width ** -0.5, rotary: c.rotary };
  const attended = selfAttention(g, inputs, projected, size);
  const opened = g.node('Mul', [attended, g.node('Sigmoid', [gate])]);
  return linear(g, opened, at('self_attn.o_proj'), { from: heads * width, to: from, bias });
}
