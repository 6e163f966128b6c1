import type { Family } from '../../family.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { linear } from '../../layers/linear.js';
import type { ImageModel } from './image-encoder.js';

/** What the tasks want of an encoder of images. */
export function imageHeads<C>(modelOf: (config: C) => ImageModel): Family<C>['heads'] {
  const role = (write: (g: GraphWriter, model: ImageModel) => void) => ({
    model: (g: GraphWriter, config: C) => write(g, modelOf(config)),
  });
  return {
    'image-classification': role((g, model) =>
      g.output('logits', model.classify(g, model.states(g)), 'float32', ['rows', model.labels]),
    ),
    'image-features': role((g, model) => {
      const states = model.states(g);
      const { shape = ['rows', 'tokens', model.width], pooledShape = ['rows', model.width] } = model;
      g.output('last_hidden_state', states, 'float32', shape);
      const pooled = model.pool?.(g, states);
      if (pooled !== undefined) g.output('pooler_output', pooled, 'float32', pooledShape);
    }),
  };
}

/** Scores of labels of vectors [rows, width], by the layer of this name. */
export function labelScores(
  g: GraphWriter,
  x: Value,
  { width, labels }: Pick<ImageModel, 'width' | 'labels'>,
  name = 'classifier',
): Value {
  return linear(g, x, name, { from: width, to: labels });
}

/** Mean of the states of the tokens: float32 [rows, width] of [rows, tokens, width]. */
export function meanToken(g: GraphWriter, tokens: Value): Value {
  return g.node('ReduceMean', [tokens, g.ints([1])], { keepdims: 0 });
}
