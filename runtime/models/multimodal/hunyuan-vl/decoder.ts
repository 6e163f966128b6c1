import * as z from 'zod';
import { denseConfig, type Dense, hunyuan } from '../../bases/decoder/hunyuan-decoder.js';
import type { Decoder } from '../../bases/decoder/decoder.js';
import { type LayerNames, llamaDecoder } from '../../bases/decoder/llama-decoder.js';
import { cachedAttention } from '../../layers/cached-attention.js';
import type { DecoderInputs } from '../../layers/decoder-inputs.js';
import { linear } from '../../layers/linear.js';
import { headNorm } from '../../layers/norm.js';
import { rotaryFrequencies } from '../../layers/rope-frequencies.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { ELEMENTS } from '../../writer/tensors.js';

export const textConfig = denseConfig.extend({ tie_word_embeddings: z.boolean().default(true) });
export type Text = Dense;

const sections = z.array(z.number()).min(3).max(8);

/**
 * How many numbers of half a head each axis turns: the last three are width, height and number of an image.
 * @throws GraphError where they are not those of half a head
 */
export function sectionsOf(c: Text): number[] {
  const { headWidth: width } = hunyuan(c);
  const { mrope_section: own, xdrope_section: former } = c.rope_scaling ?? {};
  const given = sections.safeParse(own ?? former).data ?? [];
  if (given.every(Number.isInteger) && given.reduce((sum, one) => sum + one, 0) === width / 2) return given;
  throw new GraphError(`config.json: mrope_section does not part ${width / 2} numbers of a head`);
}

/** What the kind is called by in files of the makers. */
const named = (c: Text): Text => {
  const { rope_type: type = c.rope_scaling?.['type'], ...rest } = c.rope_scaling ?? {};
  return type === 'xdrope' ? { ...c, rope_scaling: { ...rest, rope_type: 'dynamic' } } : c;
};

/** HunYuan's dense decoder, whose heads turn by positions on several axes. */
export function hunyuanDecoder(given: Text): Decoder {
  const c = named(given);
  const model = hunyuan(c);
  return llamaDecoder({ ...model, attend: (g, x, inputs, of) => attend(g, x, inputs, { ...of, c }) });
}

/** float32 [rows, tokens, 1, width of a head] each. */
interface Angles {
  cosine: Value;
  sine: Value;
}

/** Both halves of a head are parted among the axes as one, so the two numbers of a pair turn by different ones. */
function anglesOf(g: GraphWriter, positions: Value, c: Text): Angles {
  const { headWidth: width, rotary } = hunyuan(c);
  const { values, scale, beyond, growth } = rotaryFrequencies(rotary(0)!, width);
  if (beyond || growth)
    throw new GraphError('config.json: rope_scaling by length is for positions on one axis');
  const axes = sectionsOf(c).flatMap((count, axis) => Array.from({ length: 2 * count }, () => axis));
  return g.once('angles on several axes', () => {
    const last = g.node('Transpose', [g.node('Cast', [positions], { to: ELEMENTS.float32 })], {
      perm: [1, 2, 0],
    });
    const placed = g.node('Gather', [last, g.ints(axes)], { axis: 2 });
    const angles = g.node('Mul', [placed, g.floats([...values, ...values], [1, 1, width])]);
    const [cosine, sine] = ['Cos', 'Sin'].map((op) =>
      g.node('Unsqueeze', [g.node('Mul', [g.node(op, [angles]), g.scalar(scale)]), g.ints([2])]),
    ) as [Value, Value];
    return { cosine, sine };
  });
}

/** x · cosine + (−second half, first half) · sine of each head: float32 [rows, tokens, heads · width]. */
function turned(
  g: GraphWriter,
  x: Value,
  { cosine, sine }: Angles,
  [heads, width]: readonly [number, number],
): Value {
  const split = g.node('Reshape', [x, g.ints([0, 0, heads, width])]);
  const [first, second] = g.nodes('Split', [split, g.ints([width / 2, width / 2])], {
    ...{ outputs: 2, attributes: { axis: 3 } },
  }) as [Value, Value];
  const across = g.node('Concat', [g.node('Neg', [second]), first], { axis: 3 });
  const sum = g.node('Add', [g.node('Mul', [split, cosine]), g.node('Mul', [across, sine])]);
  return g.node('Reshape', [sum, g.ints([0, 0, heads * width])]);
}

function attend(
  g: GraphWriter,
  x: Value,
  inputs: DecoderInputs,
  { layer, at, c }: LayerNames & { c: Text },
): Value {
  const { width: from, heads, keyHeads, headWidth: width, epsilon, bias: has } = hunyuan(c);
  const bias = has?.projections ?? false;
  const project = (name: string, count: number) =>
    linear(g, x, at(`self_attn.${name}_proj`), { from, to: count * width, bias });
  const angles = anglesOf(g, inputs.positions, c);
  const normed = (value: Value, name: string, count: number) =>
    headNorm(g, turned(g, value, angles, [count, width]), at(`self_attn.${name}_layernorm`), {
      ...{ heads: count, width, epsilon },
    });
  const projected = {
    query: normed(project('q', heads), 'query', heads),
    key: normed(project('k', keyHeads), 'key', keyHeads),
    value: project('v', keyHeads),
  };
  const attended = cachedAttention(g, inputs, projected, {
    ...{ layer, heads, keyHeads, width, scale: width ** -0.5, mask: inputs.mask() },
  });
  return linear(g, attended, at('self_attn.o_proj'), { from: heads * width, to: from, bias });
}
