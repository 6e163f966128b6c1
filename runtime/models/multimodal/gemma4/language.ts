import type { Decoder } from '../../bases/decoder/decoder.js';
import { TOKENS, tokensSay } from '../../text/gemma3n/tokens.js';
import type { Gemma4Config } from '../../text/gemma4/config.js';
import { gemma4Decoder } from '../../text/gemma4/gemma4.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { ELEMENTS } from '../../writer/tensors.js';

/** Ids of tokens at whose positions features stand, and of the one that is read in their place. */
export interface MediaTokens {
  media: readonly number[];
  pad: number;
}

/** Ids are float32 in vectors of tokens, which has all of them up to this one. */
const MOST_IDS = 2 ** 24;

/**
 * The language model over features. Layers read what tokens say to them, so that the id of a token follows its vector; that of
 * padding follows a feature.
 * @throws GraphError where the model names no token for padding
 */
export function decoderOverFeatures(c: Gemma4Config, tokens: MediaTokens): Decoder {
  const decoder = gemma4Decoder(c);
  const { width } = decoder;
  const embed = (g: GraphWriter, ids: Value) => {
    const known = textIds(g, ids, tokens);
    const found = decoder.embed(g, known);
    return readsIds(c) ? withIds(g, found, g.node('Unsqueeze', [known, g.ints([2])])) : found;
  };
  if (!readsIds(c)) return { ...decoder, embed };
  if (c.vocab_size_per_layer_input > MOST_IDS)
    throw new GraphError(`config.json: vocab_size_per_layer_input is more than ${MOST_IDS}`);
  return {
    ...decoder,
    ...{ vectorWidth: width + 1, embed },
    place(g, vectors) {
      const [x, numbers] = g.nodes('Split', [vectors, g.ints([width, 1])], {
        ...{ outputs: 2, attributes: { axis: -1 } },
      }) as [Value, Value];
      const ids = g.node('Cast', [g.node('Squeeze', [numbers, g.ints([2])])], { to: ELEMENTS.int64 });
      g.once(TOKENS, () => tokensSay(g, x, ids, c));
      return x;
    },
  };
}

const readsIds = (c: Gemma4Config): boolean => c.hidden_size_per_layer_input > 0;

/** Padding in place of features, as Python reads them. */
function textIds(g: GraphWriter, ids: Value, { media, pad }: MediaTokens): Value {
  const isMedium = media
    .map((id) => g.node('Equal', [ids, g.ints([id], [])]))
    .reduce((any, next) => g.node('Or', [any, next]));
  return g.node('Where', [isMedium, g.ints([pad], []), ids]);
}

const withIds = (g: GraphWriter, x: Value, ids: Value): Value =>
  g.node('Concat', [x, g.node('Cast', [ids], { to: ELEMENTS.float32 })], { axis: -1 });

/** Features as the language model reads them: float32 [rows, features, width of its vectors]. */
export function featuresFor(g: GraphWriter, features: Value, c: Gemma4Config, { pad }: MediaTokens): Value {
  if (!readsIds(c)) return features;
  const shape = g.node('Shape', [features], { start: 0, end: 2 });
  const ids = g.node('Expand', [g.ints([pad]), g.node('Concat', [shape, g.ints([1])], { axis: 0 })]);
  return withIds(g, features, ids);
}
