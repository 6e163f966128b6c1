import type { Architecture, WriteRole } from '../architecture.js';
import type { GraphWriter, Value } from '../graph-writer.js';
import { type DecoderInputs, decoderInputs } from './decoder-inputs.js';
import { matMulTransposed } from './linear.js';

/** A language model without an encoder, as its architecture has it. */
export interface Decoder {
  layers: number;
  /** Of the states. */
  width: number;
  vocabulary: number;
  /** Heads of keys and values, and their width. */
  keyHeads: number;
  headWidth: number;
  /** float32 [rows, tokens, width] of the tokens. */
  embed(g: GraphWriter, inputs: DecoderInputs): Value;
  layer(g: GraphWriter, x: Value, layer: number, inputs: DecoderInputs): Value;
  /** What comes after the last layer. */
  finish(g: GraphWriter, x: Value): Value;
  /** float32 [rows, 1, vocabulary] of states [rows, 1, width]. */
  scores(g: GraphWriter, x: Value): Value;
  /** Labels of a classifier over the last token. */
  labels: number;
  padId: number | undefined;
}

type Heads<C> = Architecture<C>['heads'];

/** What the tasks want of a decoder: its next token, its states, or labels of whole texts. */
export function decoderHeads<C>(modelOf: (config: C) => Decoder): Heads<C> {
  const role = (write: (g: GraphWriter, model: Decoder) => void): { model: WriteRole<C> } => ({
    model: (g, config) => write(g, modelOf(config)),
  });
  return {
    'causal-lm': role(writeLanguageModel),
    embedding: role((g, model) => {
      const states = model.finish(g, statesOf(g, model, decoderInputs(g, undefined)));
      g.output('last_hidden_state', states, 'float32', ['rows', 'tokens', model.width]);
    }),
    'sequence-classification': role(writeClassifier),
  };
}

function statesOf(g: GraphWriter, model: Decoder, inputs: DecoderInputs): Value {
  let x = model.embed(g, inputs);
  for (let i = 0; i < model.layers; i++) x = model.layer(g, x, i, inputs);
  return x;
}

/** `logits` of the last token alone: nobody looks at the others. */
function writeLanguageModel(g: GraphWriter, model: Decoder): void {
  const inputs = decoderInputs(g, { heads: model.keyHeads, width: model.headWidth });
  const states = statesOf(g, model, inputs);
  const last = g.node('Slice', [states, g.ints([-1]), g.ints([2 ** 53]), g.ints([1])]);
  const scores = model.scores(g, model.finish(g, last));
  g.output('logits', scores, 'float32', ['rows', 1, model.vocabulary]);
}

/** The classifier of transformers reads the state of the last token that is no padding. */
function writeClassifier(g: GraphWriter, model: Decoder): void {
  const inputs = decoderInputs(g, undefined);
  const states = model.finish(g, statesOf(g, model, inputs));
  const labels = matMulTransposed(g, states, g.weight('score.weight', [model.labels, model.width]));
  const at = lastTokenOf(g, inputs, model.padId);
  const logits = g.node('GatherND', [labels, g.node('Unsqueeze', [at, g.ints([1])])], { batch_dims: 1 });
  g.output('logits', logits, 'float32', ['rows', model.labels]);
}

/** int64 [rows]: place of the last token that is not `padId`; where a model has none, of the last one that the mask shows. */
function lastTokenOf(g: GraphWriter, { ids, positions }: DecoderInputs, padId: number | undefined): Value {
  if (padId === undefined) return g.node('ReduceMax', [positions, g.ints([1])], { keepdims: 0 });
  const isPad = g.node('Equal', [ids, g.ints([padId], [])]);
  const places = g.node('Where', [isPad, g.ints([-1], []), positions]);
  return g.node('ReduceMax', [places, g.ints([1])], { keepdims: 0 });
}
