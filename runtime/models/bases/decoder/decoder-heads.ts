import type { Family, WriteRole } from '../../family.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { Decoder } from './decoder.js';
import {
  type CacheSize,
  type DecoderInputs,
  decoderInputs,
  type PositionOptions,
} from '../../layers/decoder-inputs.js';
import { linear, matMulTransposed } from '../../layers/linear.js';

type Heads<C> = Family<C>['heads'];

/** What the tasks want of a decoder: its next token, its states, or labels of whole texts or of tokens. */
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
    'token-classification': role(writeTokenClassifier),
  };
}

/**
 * The graphs of a model that reads features among its tokens: `embed_tokens`, and `decoder_model_merged`, which takes
 * vectors (`inputs_embeds`).
 */
export function embeddedDecoderRoles<C>(
  modelOf: (config: C) => Decoder,
  options: PositionOptions | ((config: C) => PositionOptions) = {},
) {
  return {
    embed_tokens: (g: GraphWriter, config: C) => {
      const model = modelOf(config);
      const found = model.embed(g, g.input('input_ids', 'int64', ['rows', 'tokens']));
      g.output('inputs_embeds', found, 'float32', ['rows', 'tokens', vectorWidth(model)]);
    },
    decoder_model_merged: (g: GraphWriter, config: C) => {
      const model = modelOf(config);
      const own = typeof options === 'function' ? options(config) : options;
      writeScores(g, model, decoderInputs(g, cacheOf(model), { ...own, vectors: vectorWidth(model) }));
    },
  };
}

const vectorWidth = ({ vectorWidth: own, width }: Decoder): number => own ?? width;

function statesOf(g: GraphWriter, model: Decoder, inputs: DecoderInputs): Value {
  const found = inputs.ids === undefined ? inputs.vectors! : model.embed(g, inputs.ids);
  let x = model.place?.(g, found, inputs) ?? found;
  for (let i = 0; i < model.layers; i++) x = model.layer(g, x, i, inputs);
  return x;
}

const writeLanguageModel = (g: GraphWriter, model: Decoder): void =>
  writeScores(g, model, decoderInputs(g, cacheOf(model)));

const cacheOf = ({ keyHeads: heads, headWidth: width }: Decoder): CacheSize => ({ heads, width });

/** `logits` of the last token alone: nobody looks at the others. */
function writeScores(g: GraphWriter, model: Decoder, inputs: DecoderInputs): void {
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

/** Labels of each token. Its layer is `score` in families like Llama and `classifier` in older ones. */
function writeTokenClassifier(g: GraphWriter, model: Decoder): void {
  const states = model.finish(g, statesOf(g, model, decoderInputs(g, undefined)));
  const name = g.weights.has('score.weight') ? 'score' : 'classifier';
  const logits = linear(g, states, name, { from: model.width, to: model.labels, bias: 'if present' });
  g.output('logits', logits, 'float32', ['rows', 'tokens', model.labels]);
}

/** int64 [rows]: place of the last token that is not `padId`; where a model has none, of the last one that the mask shows. */
function lastTokenOf(g: GraphWriter, { ids, positions }: DecoderInputs, padId: number | undefined): Value {
  if (padId === undefined) return g.node('ReduceMax', [positions, g.ints([1])], { keepdims: 0 });
  const isPad = g.node('Equal', [ids!, g.ints([padId], [])]);
  const unpadded = g.node('Where', [isPad, g.ints([-1], []), positions]);
  return g.node('ReduceMax', [unpadded, g.ints([1])], { keepdims: 0 });
}
