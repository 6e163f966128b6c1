import * as z from 'zod';
import { type Family, defineFamily } from '../family.js';
import { adaptivePool } from '../layers/adaptive-pool.js';
import { convolution2d, normedConvolution } from '../layers/convolution.js';
import { gridOf, imageInput, resize } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { labelCount, labels, size } from '../config-fields.js';
import { backbone, backboneFeatures, type Features } from './backbone/index.js';
import { ALL_STAGES } from './mask-queries.js';

const config = z.object({
  ...labels,
  use_timm_backbone: z.literal(false, 'backbones of timm are not known').default(false),
  backbone: z.null('backbones by name are not known').optional(),
  backbone_config: backbone
    .nullish()
    .transform((given) => given ?? backbone.parse({ model_type: 'resnet', out_features: ALL_STAGES })),
  hidden_size: size.default(512),
  pool_scales: z.array(z.int().min(1).max(64)).max(16).default([1, 2, 3, 6]),
});
type Config = z.output<typeof config>;

interface Part {
  name: string;
  from: number;
  to: number;
  kernel: number;
}

const convolved = (g: GraphWriter, x: Value, { name, ...size }: Part): Value =>
  normedConvolution(
    g,
    x,
    { convolution: `decode_head.${name}.conv`, norm: `decode_head.${name}.batch_norm` },
    { ...size, act: 'relu' },
  );

/** An image of another grid. @param grid int64 [2] */
function resized(g: GraphWriter, x: Value, grid: Value): Value {
  const before = g.node('Shape', [x], { start: 0, end: 2 });
  return resize(g, x, g.node('Concat', [before, grid], { axis: 0 }), { mode: 'linear' });
}

const together = (g: GraphWriter, parts: readonly Value[]): Value => g.node('Concat', parts, { axis: 1 });

/** The coarsest image beside means of larger and larger parts of it. */
function pyramid(
  g: GraphWriter,
  { features, width: from }: Features,
  { hidden_size: to, pool_scales }: Config,
): Value {
  const means = pool_scales.map((parts, i) => {
    const mean = adaptivePool(g, features, parts);
    return resized(
      g,
      convolved(g, mean, { name: `psp_modules.${i}.1`, from, to, kernel: 1 }),
      gridOf(g, features),
    );
  });
  const all = together(g, [features, ...means]);
  return convolved(g, all, { name: 'bottleneck', from: from + means.length * to, to, kernel: 3 });
}

/** From coarse to fine, each image with what the coarser ones know; all of them at the finest one's size. */
function writeSegmenter(g: GraphWriter, c: Config): void {
  const width = c.hidden_size;
  const pixels = imageInput(g, c.backbone_config.num_channels);
  const found = backboneFeatures(g, pixels, c.backbone_config, 'backbone.');
  const known = [pyramid(g, found.at(-1)!, c)];
  for (const [i, { features, width: from }] of [...found.slice(0, -1).entries()].toReversed()) {
    const own = convolved(g, features, { name: `lateral_convs.${i}`, from, to: width, kernel: 1 });
    known.unshift(g.node('Add', [own, resized(g, known[0]!, gridOf(g, own))]));
  }
  const read = known.map((x, i) =>
    i === known.length - 1
      ? x
      : convolved(g, x, { name: `fpn_convs.${i}`, from: width, to: width, kernel: 3 }),
  );
  const finest = gridOf(g, read[0]!);
  const all = together(
    g,
    read.map((x, i) => (i === 0 ? x : resized(g, x, finest))),
  );
  const fused = convolved(g, all, {
    name: 'fpn_bottleneck',
    from: read.length * width,
    to: width,
    kernel: 3,
  });
  const to = labelCount(c);
  const scores = convolution2d(g, fused, 'decode_head.classifier', { from: width, to, kernel: 1 });
  g.output('logits', resized(g, scores, gridOf(g, pixels)), 'float32', ['rows', to, 'height', 'width']);
}

const heads: Family<Config>['heads'] = { 'image-segmentation': { model: writeSegmenter } };

/** Its second head is there for training only. modeling_upernet.py */
export const upernet = defineFamily({
  ...{ modelTypes: ['upernet'], readers: { processor: 'Segformer' }, config, prefixes: [], heads },
  memory: { joinsStages: true },
});
