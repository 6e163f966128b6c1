import type { Family } from '../../family.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { linear } from '../../layers/linear.js';
import { ELEMENTS } from '../../writer/tensors.js';

/** An encoder of texts, as its family has it. */
export interface TextModel {
  /** Of the states. */
  width: number;
  vocabulary: number;
  labels: number;
  /** Declares the inputs and gives the states of the last layer: float32 [rows, tokens, width]. */
  states(g: GraphWriter): Value;
  /** Scores of labels, float32 [rows, labels], of states. */
  classify?(g: GraphWriter, states: Value): Value;
  /** Scores of the vocabulary, float32 [rows, tokens, vocabulary], of states. */
  fill?(g: GraphWriter, states: Value): Value;
  /** What stands before the layer that scores each token's labels, or as beginning and end of an answer. */
  tokenHead?(g: GraphWriter, states: Value): Value;
  /** Name of the layer that scores beginning and end of an answer; `qa_outputs` if absent. */
  spans?: string;
}

/** What the tasks want of an encoder of texts. */
export function textHeads<C>(modelOf: (config: C) => TextModel): Family<C>['heads'] {
  const role = (write: (g: GraphWriter, model: TextModel) => void) => ({
    model: (g: GraphWriter, config: C) => write(g, modelOf(config)),
  });
  const labels = role((g, model) => {
    const logits = model.classify!(g, model.states(g));
    g.output('logits', logits, 'float32', ['rows', model.labels]);
  });
  return {
    embedding: role((g, model) =>
      g.output('last_hidden_state', model.states(g), 'float32', ['rows', 'tokens', model.width]),
    ),
    'masked-lm': role((g, model) =>
      g.output('logits', model.fill!(g, model.states(g)), 'float32', ['rows', 'tokens', model.vocabulary]),
    ),
    'sequence-classification': labels,
    entailment: labels,
    'token-classification': role((g, model) => {
      const states = model.states(g);
      const read = model.tokenHead?.(g, states) ?? states;
      const logits = linear(g, read, 'classifier', { from: model.width, to: model.labels });
      g.output('logits', logits, 'float32', ['rows', 'tokens', model.labels]);
    }),
    'question-answering': role((g, model) => {
      const states = model.states(g);
      const read = model.spans ? (model.tokenHead?.(g, states) ?? states) : states;
      spanOutputs(g, read, { name: model.spans ?? 'qa_outputs', width: model.width });
    }),
  };
}

/** `start_logits` and `end_logits`, float32 [rows, tokens] each. */
export function spanOutputs(
  g: GraphWriter,
  states: Value,
  { name, width }: { name: string; width: number },
): void {
  const both = linear(g, states, name, { from: width, to: 2 });
  ['start_logits', 'end_logits'].forEach((output, i) => {
    const one = g.node('Gather', [both, g.ints([i], [])], { axis: 2 });
    g.output(output, one, 'float32', ['rows', 'tokens']);
  });
}

/** States of the first token: float32 [rows, width] of [rows, tokens, width]. */
export function firstToken(g: GraphWriter, states: Value): Value {
  return g.node('Gather', [states, g.ints([0], [])], { axis: 1 });
}

/** float32 [rows, width] of states [rows, tokens, width]: their mean without padding. @param seen integers [rows, tokens], 0 for padding */
export function meanOfTokens(g: GraphWriter, states: Value, seen: Value = 'attention_mask'): Value {
  const mask = g.node('Unsqueeze', [g.node('Cast', [seen], { to: ELEMENTS.float32 }), g.ints([2])]);
  const sum = g.node('ReduceSum', [g.node('Mul', [states, mask]), g.ints([1])], { keepdims: 0 });
  return g.node('Div', [sum, g.node('ReduceSum', [mask, g.ints([1])], { keepdims: 0 })]);
}
