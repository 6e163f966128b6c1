import type { Family } from '../../family.js';
import { attention } from '../../layers/attention.js';
import type { DecoderState } from '../../layers/cross-decoder.js';
import { distances, positionsOf, textInputs } from '../../layers/text-inputs.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { ELEMENTS } from '../../writer/tensors.js';
import { twoLayerClassifier } from '../encoder/bert-layer.js';
import { type BartLike, bartModel } from './bart-decoder.js';

/** A BART that scores labels of its source. */
interface Classifier extends BartLike {
  labels: number;
  /** The token at whose last position the state of the whole text is read. */
  endId: number;
}

/** The decoder reads the source shifted by one; the state at the source's last end token is classified. */
export function sourceClassifier<C>(modelOf: (config: C) => Classifier): Family<C>['heads'] {
  const roles = { model: (g: GraphWriter, config: C) => writeClassifier(g, modelOf(config)) };
  return { 'sequence-classification': roles, entailment: roles };
}

function writeClassifier(g: GraphWriter, model: Classifier): void {
  const inputs = textInputs(g);
  const shifted = g.input('decoder_input_ids', 'int64', ['rows', 'tokens']);
  const parts = bartModel(model);
  const source = parts.encode(g, inputs);
  const state = uncachedState(g, { ids: shifted, source, padding: inputs.padding }, parts);
  const states = parts.decode(g, shifted, state);
  const pooled = g.node('GatherND', [states, lastPlaceOf(g, inputs.ids, model.endId)], { batch_dims: 1 });
  const logits = twoLayerClassifier(g, pooled, {
    ...{ dense: 'classification_head.dense', output: 'classification_head.out_proj', act: 'tanh' },
    ...{ width: model.width, labels: model.labels },
  });
  g.output('logits', logits, 'float32', ['rows', model.labels]);
}

/** int64 [rows, 1] */
function lastPlaceOf(g: GraphWriter, ids: Value, id: number): Value {
  const isEnd = g.node('Cast', [g.node('Equal', [ids, g.ints([id], [])])], { to: ELEMENTS.int64 });
  return g.node('ArgMax', [isEnd], { axis: 1, keepdims: 1, select_last_index: 1 });
}

interface Read {
  ids: Value;
  /** The encoder's states, and which of them are padding. */
  source: Value;
  padding: Value;
}

/** A decoder that reads a whole text at once. */
function uncachedState(
  g: GraphWriter,
  { ids, source, padding }: Read,
  { heads, width, projectSource }: ReturnType<typeof bartModel>,
): DecoderState {
  return {
    positions: g.node('Unsqueeze', [positionsOf(g, ids), g.ints([0])]),
    distances: () => g.node('Unsqueeze', [distances(g, ids), g.ints([0])]),
    attendSelf: (_layer, projected, bias) => attention(g, projected, { heads, width, bias, causal: true }),
    attendSource: (layer, query) =>
      attention(g, { query, ...projectSource(g, layer, source) }, { heads, width, padding }),
  };
}
