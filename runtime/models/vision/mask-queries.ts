import * as z from 'zod';
import { linear } from '../layers/linear.js';
import { mlp } from '../layers/mlp.js';
import { gridOf, imageInput } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { labelCount, labels, size } from '../config-fields.js';
import { type Backbone, backboneFeatures, type Features } from './backbone/index.js';

/** What networks have in common that find masks by queries. */

export const maskFields = {
  ...labels,
  use_timm_backbone: z.literal(false, 'backbones of timm are not known').default(false),
  backbone: z.null('backbones by name are not known').optional(),
  mask_feature_size: size.default(256),
};

/** Stages that are read of a backbone that the configuration says nothing of. */
export const ALL_STAGES = ['stage1', 'stage2', 'stage3', 'stage4'];

/** Declares the image; what the backbone makes of it, the fine stages first. */
export const imageFeatures = (g: GraphWriter, c: Backbone): Features[] =>
  backboneFeatures(g, imageInput(g, c.num_channels), c, 'model.pixel_level_module.encoder.');

/**
 * How likely each position belongs to a query: float32 [rows, queries, lines, columns].
 * @param states [rows, queries, width] @param positions [rows, mask features, lines, columns] @param name of what turns states into masks
 */
export function queryMasks(
  g: GraphWriter,
  { states, positions }: { states: Value; positions: Value },
  name: string,
  { width, features }: { width: number; features: number },
): Value {
  const size = { from: width, inner: width, to: features, layers: 3, nameOf: (i: number) => `.${i}.0` };
  const vectors = mlp(g, states, name, size);
  const flat = g.node('Reshape', [positions, g.ints([0, 0, -1])]);
  const masks = g.node('MatMul', [vectors, flat]);
  return g.node('Reshape', [masks, g.node('Concat', [g.ints([0, 0]), gridOf(g, positions)], { axis: 0 })]);
}

/** Declares what segmenters read: classes of queries, the last one for "nothing", and their masks. */
export function maskOutputs(
  g: GraphWriter,
  { states, masks }: { states: Value; masks: Value },
  c: z.output<z.ZodObject<typeof labels>> & { queries: number; width: number },
): void {
  const classes = labelCount(c) + 1;
  const logits = linear(g, states, 'class_predictor', { from: c.width, to: classes });
  g.output('class_queries_logits', logits, 'float32', ['rows', c.queries, classes]);
  g.output('masks_queries_logits', masks, 'float32', ['rows', c.queries, 'lines', 'columns']);
}
