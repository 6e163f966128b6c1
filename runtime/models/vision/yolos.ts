import * as z from 'zod';
import { type Family, defineFamily } from '../family.js';
import { layerNorm } from '../layers/norm.js';
import { boxOutputs, mlp } from '../layers/mlp.js';
import { patches, imageInput, resizedTable, tokensFrom } from '../layers/patch-embed.js';
import { preNormLayer } from '../layers/pre-norm-layer.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import { edges, gridSize, vitConfig, vitSizes } from '../bases/vision/vit-config.js';
import { VIT_NAMES } from './vit.js';

const config = z.object({
  ...vitConfig,
  image_size: edges.default([512, 864]),
  num_detection_tokens: size.default(100),
  use_mid_position_embeddings: z.boolean().default(true),
});
type Config = z.output<typeof config>;

/** A table [1, 1 + patches + detections, width] for the grid of an image. @param grid int64 [2] */
function positions(g: GraphWriter, table: Value, c: Config, grid: Value): Value {
  const from = gridSize(c.image_size, c.patch_size);
  const last = 1 + from[0] * from[1];
  const resized = resizedTable(g, tokensFrom(g, table, 1, last), {
    ...{ from, to: grid, width: c.hidden_size, mode: 'cubic' },
  });
  return g.node('Concat', [tokensFrom(g, table, 0, 1), resized, tokensFrom(g, table, last)], { axis: 1 });
}

/** States of the tokens that detect: float32 [rows, detections, width]. */
function detectionStates(g: GraphWriter, c: Config): Value {
  const at = (name: string) => `vit.${name}`;
  const [width, detections] = [c.hidden_size, c.num_detection_tokens];
  const [lines, columns] = gridSize(c.image_size, c.patch_size);
  const count = 1 + lines * columns + detections;
  const pixels = imageInput(g, c.num_channels);
  const { tokens, grid } = patches(g, pixels, at('embeddings.patch_embeddings.projection'), {
    ...{ channels: c.num_channels, width, patch: c.patch_size },
  });
  const rows = g.node('Shape', [tokens], { start: 0, end: 1 });
  const ofRows = (name: string, length: number) =>
    g.node('Expand', [
      g.weight(at(`embeddings.${name}`), [1, length, width]),
      g.node('Concat', [rows, g.ints([length, width])], { axis: 0 }),
    ]);
  const all = [ofRows('cls_token', 1), tokens, ofRows('detection_tokens', detections)];
  const first = g.weight(at('embeddings.position_embeddings'), [1, count, width]);
  let x = g.node('Add', [g.node('Concat', all, { axis: 1 }), positions(g, first, c, grid)]);
  const biases = { query: c.qkv_bias, key: c.qkv_bias, value: c.qkv_bias };
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const inLayer = (part: string) => at(`encoder.layer.${i}.${part}`);
    x = preNormLayer(g, x, { ...vitSizes(c), names: VIT_NAMES, at: inLayer, biases });
    if (!c.use_mid_position_embeddings || i === c.num_hidden_layers - 1) continue;
    const tables = g.weight(at('encoder.mid_position_embeddings'), [
      ...[c.num_hidden_layers - 1, 1, count, width],
    ]);
    x = g.node('Add', [x, positions(g, g.node('Gather', [tables, g.ints([i], [])]), c, grid)]);
  }
  return layerNorm(g, tokensFrom(g, x, -detections), at('layernorm'), vitSizes(c));
}

const heads: Family<Config>['heads'] = {
  'object-detection': {
    model: (g, c) => {
      const { width, labels } = vitSizes(c);
      const states = detectionStates(g, c);
      const logits = mlp(g, states, 'class_labels_classifier', {
        ...{ from: width, inner: width, to: labels + 1, layers: 3 },
      });
      boxOutputs(g, { states, logits }, { width, queries: c.num_detection_tokens, labels });
    },
  },
};

/** modeling_yolos.py */
export const yolos = defineFamily({
  modelTypes: ['yolos'],
  readers: { processor: 'Yolos' },
  usualTask: 'object-detection',
  config,
  prefixes: ['vit.'],
  heads,
});
