import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { labelScores, imageHeads } from '../bases/vision/image-heads.js';
import type { ImageModel } from '../bases/vision/image-encoder.js';
import { firstToken } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import { vitConfig, vitSizes } from '../bases/vision/vit-config.js';
import { vitEmbeddings, vitLayers } from './vit.js';

const config = z.object({
  ...vitConfig,
  pooler_output_size: size.nullish(),
  pooler_act: z.string().default('tanh'),
});
type Config = z.output<typeof config>;

/** Checkpoints with a teacher score both of the first tokens, and mean the scores. */
function classify(g: GraphWriter, states: Value, c: Config): Value {
  const sizes = vitSizes(c);
  const own = firstToken(g, states);
  if (!g.weights.has('distillation_classifier.weight')) return labelScores(g, own, sizes);
  const taught = g.node('Gather', [states, g.ints([1], [])], { axis: 1 });
  const sum = g.node('Add', [
    labelScores(g, own, sizes, 'cls_classifier'),
    labelScores(g, taught, sizes, 'distillation_classifier'),
  ]);
  return g.node('Mul', [sum, g.scalar(0.5)]);
}

function pool(g: GraphWriter, states: Value, c: Config): Value | undefined {
  if (!g.weights.has('deit.pooler.dense.weight')) return undefined;
  const dense = linear(g, firstToken(g, states), 'deit.pooler.dense', {
    ...{ from: c.hidden_size, to: c.pooler_output_size ?? c.hidden_size },
  });
  return activation(g, dense, c.pooler_act);
}

const modelOf = (c: Config): ImageModel => ({
  ...vitSizes(c),
  states: (g) => {
    const embedded = vitEmbeddings(g, c, 'deit.', ['cls_token', 'distillation_token']);
    return layerNorm(g, vitLayers(g, embedded, c, 'deit.'), 'deit.layernorm', vitSizes(c));
  },
  pool: (g, states) => pool(g, states, c),
  pooledShape: ['rows', c.pooler_output_size ?? c.hidden_size],
  classify: (g, states) => classify(g, states, c),
});

/** modeling_deit.py */
export const deit = defineFamily({
  modelTypes: ['deit'],
  readers: { processor: 'DeiT' },
  config,
  prefixes: ['deit.'],
  heads: imageHeads(modelOf),
  image: modelOf,
});
