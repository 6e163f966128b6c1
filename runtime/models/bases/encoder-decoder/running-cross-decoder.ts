import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Shape, Value } from '../../writer/graph-writer.js';
import { ELEMENTS } from '../../writer/tensors.js';
import { attention } from '../../layers/attention.js';
import { byHead } from '../../layers/split-heads.js';
import { cachedAttention } from '../../layers/cached-attention.js';
import { decoderInputs } from '../../layers/decoder-inputs.js';
import { prefixedAttention } from '../../layers/prefix-attention.js';
import { type Look, writeSourceAttention } from '../../layers/cross-attention.js';
import type { DecoderState, Pair, SourceDecoder } from '../../layers/cross-decoder.js';

/**
 * Decoders that attend to a source, for many requests in one run: keys and values of a source are computed once, by a graph
 * of their own, and each row's tokens know their positions and how long their source is.
 */

/** Keys or values of the source in a layer, as both graphs name and shape them. */
function crossPort({ heads, headWidth }: SourceDecoder, layer: number, kind: keyof Pair) {
  const shape: Shape = ['rows', heads, 'length', headWidth];
  return { name: `${layer}.encoder.${kind}`, shape };
}

const KINDS = ['key', 'value'] as const;

/**
 * `encoder_hidden_states` [rows, length, width] -> `present.N.encoder.key` and `.value` [rows, heads, length, width] of each layer.
 * @throws GraphError for a decoder without layers
 */
export function writeCrossCache(g: GraphWriter, model: SourceDecoder): void {
  const states = g.input('encoder_hidden_states', 'float32', ['rows', 'length', model.width]);
  for (let layer = 0; layer < layersOf(model); layer++) {
    const projected = model.projectSource(g, layer, states);
    for (const kind of KINDS) {
      const { name, shape } = crossPort(model, layer, kind);
      g.output(`present.${name}`, byHead(g, projected[kind], model.heads, model.headWidth), 'float32', shape);
    }
  }
}

/**
 * The decoder over caches of its tokens and of the source. `logits` are those of the last token, cache outputs hold the fed
 * tokens only. `encoder_attention_mask` is 0 where a row's source has ended.
 * @throws GraphError for a decoder without layers
 */
export function writeRunningDecoder(g: GraphWriter, model: SourceDecoder): void {
  layersOf(model);
  const { read, state, looks } = runningState(g, model);
  const last = g.node('Slice', [model.decode(g, read, state), g.ints([-1]), g.ints([2 ** 53]), g.ints([1])]);
  g.output('logits', model.scores(g, last), 'float32', ['rows', 1, model.vocabulary]);
  if (model.tellsAttention) writeSourceAttention(g, looks, model);
}

function layersOf({ decoderLayers }: SourceDecoder): number {
  if (decoderLayers < 1) throw new GraphError('config.json: the decoder has no layers');
  return decoderLayers;
}

interface RunningState {
  /** What the decoder reads, ids or vectors. */
  read: Value;
  state: DecoderState;
  /** What each layer has attended to the source with, once it is written. */
  looks: Look[];
}

function runningState(g: GraphWriter, model: SourceDecoder): RunningState {
  const { heads, headWidth: width, scale = width ** -0.5 } = model;
  const inputs = decoderInputs(
    g,
    { heads, width, part: '.decoder' },
    model.embedded ? { vectors: model.width } : {},
  );
  const length = g.input('encoder_attention_mask', 'int64', ['rows', 'length']);
  const padding = g.node('Cast', [length], { to: ELEMENTS.int32 });
  const source = (layer: number): Pair => {
    const [key, value] = KINDS.map((kind) => {
      const { name, shape } = crossPort(model, layer, kind);
      return g.input(`past_key_values.${name}`, 'float32', shape);
    }) as [Value, Value];
    return { key, value };
  };
  const looks: Look[] = [];
  const state: DecoderState = {
    positions: inputs.positions,
    distances: inputs.distances,
    attendSelf(layer, projected, bias) {
      const sizes = { layer, heads, width, scale };
      if (model.prefixed)
        return prefixedAttention(g, inputs, projected, { ...sizes, source: source(layer), mask: length });
      const mask = bias
        ? g.once(`mask with ${bias}`, () =>
            g.node('Add', [inputs.mask(), g.node('Unsqueeze', [bias, g.ints([2])])]),
          )
        : inputs.mask();
      return cachedAttention(g, inputs, projected, { ...sizes, keyHeads: heads, mask });
    },
    attendSource(layer, query) {
      const pair = source(layer);
      looks.push({ query, key: pair.key });
      return attention(g, { query, ...pair }, { heads, width: heads * width, scale, padding });
    },
  };
  return { read: (inputs.ids ?? inputs.vectors)!, state, looks };
}
