import type { Decoder } from '../../bases/decoder/decoder.js';
import type { DecoderInputs } from '../../layers/decoder-inputs.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';

/**
 * A language model whose first layers have more to read of a feature than its vector: what so many of them add to their states follows it.
 * Words have zeros there.
 */
export function deepDecoder(decoder: Decoder, deep: number): Decoder {
  if (deep === 0) return decoder;
  const { width } = decoder;
  const part = (g: GraphWriter, vectors: Value, number: number) =>
    g.node('Slice', [...[vectors, g.ints([number * width]), g.ints([(number + 1) * width]), g.ints([-1])]]);
  return {
    ...decoder,
    vectorWidth: width * (1 + deep),
    embed: (g, ids) => g.node('Pad', [decoder.embed(g, ids), g.ints([0, 0, 0, 0, 0, deep * width])]),
    place: (g, _, inputs) => part(g, vectorsOf(inputs), 0),
    layer(g, x, layer, inputs) {
      const found = decoder.layer(g, x, layer, inputs);
      return layer < deep ? g.node('Add', [found, part(g, vectorsOf(inputs), layer + 1)]) : found;
    },
  };
}

function vectorsOf({ vectors }: DecoderInputs): Value {
  if (vectors !== undefined) return vectors;
  throw new Error('a model that reads features reads vectors');
}
