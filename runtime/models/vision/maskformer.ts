import * as z from 'zod';
import { type Family, defineFamily } from '../family.js';
import { convolution2d } from '../layers/convolution.js';
import { groupedConvolution } from '../layers/group-norm.js';
import { gridPositions, nearestCells } from '../layers/position-grid.js';
import { gridOf, tokensOf } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import { backbone, type Features } from './backbone/index.js';
import { decodedQueries, detrConfig } from './detr.js';
import { ALL_STAGES, maskFields, maskOutputs, imageFeatures, queryMasks } from './mask-queries.js';

const decoder = detrConfig
  .pick({ d_model: true, num_queries: true, decoder_layers: true, decoder_attention_heads: true })
  .extend(detrConfig.pick({ decoder_ffn_dim: true, activation_function: true, auxiliary_loss: true }).shape);

const SWIN = {
  ...{ model_type: 'swin', embed_dim: 128, depths: [2, 2, 18, 2], num_heads: [4, 8, 16, 32] },
  window_size: 12,
};

const config = z.object({
  ...maskFields,
  fpn_feature_size: size.default(256),
  // Swin is MaskFormer's own there, of which all stages are read.
  backbone_config: backbone
    .nullish()
    .transform((given) => given ?? backbone.parse(SWIN))
    .transform((given) =>
      given.model_type === 'swin'
        ? { ...given, model_type: 'maskformer-swin' as const, out_features: ALL_STAGES }
        : given,
    ),
  decoder_config: decoder.nullish().transform((given) => given ?? decoder.parse({})),
});
type Config = z.output<typeof config>;

const EPSILON = 1e-5;

/** From coarse to fine, each image with what is known of the coarser ones: float32 [rows, mask features, lines, columns]. */
function pixelFeatures(g: GraphWriter, given: readonly Features[], c: Config): Value {
  const width = c.fpn_feature_size;
  const at = (name: string) => `model.pixel_level_module.decoder.${name}`;
  const coarse = given.at(-1)!;
  const block = { to: width, kernel: 3, bias: false, act: 'relu' };
  let x = groupedConvolution(g, coarse.features, at('fpn.stem'), { ...block, from: coarse.width });
  given
    .slice(0, -1)
    .toReversed()
    .forEach(({ features, width: from }, i) => {
      const name = at(`fpn.layers.${i}`);
      const left = groupedConvolution(g, features, `${name}.proj`, {
        from,
        to: width,
        kernel: 1,
        bias: false,
      });
      const sum = g.node('Add', [nearestCells(g, x, gridOf(g, left), 2), left]);
      x = groupedConvolution(g, sum, `${name}.block`, { ...block, from: width });
    });
  return convolution2d(g, x, at('mask_projection'), { from: width, to: c.mask_feature_size, kernel: 3 });
}

function writeSegmenter(g: GraphWriter, c: Config): void {
  const { d_model: width, num_queries: queries, activation_function: act } = c.decoder_config;
  const found = imageFeatures(g, c.backbone_config);
  const { features, width: from } = found.at(-1)!;
  const name = (part: string) => `model.transformer_module.${part}`;
  const coarse =
    from === width
      ? features
      : convolution2d(g, features, name('input_projection'), { from, to: width, kernel: 1 });
  const source = { x: tokensOf(g, coarse), positions: gridPositions(g, gridOf(g, coarse), width) };
  const encoded = { source, common: { width, act, epsilon: EPSILON, normsBefore: false } };
  const names = { decoder: name('decoder'), queries: name('queries_embedder.weight') };
  const states = decodedQueries(g, encoded, c.decoder_config, names);
  const sizes = { width, features: c.mask_feature_size };
  const masks = queryMasks(g, { states, positions: pixelFeatures(g, found, c) }, 'mask_embedder', sizes);
  maskOutputs(g, { states, masks }, { ...c, queries, width });
}

const heads: Family<Config>['heads'] = { 'image-segmentation': { model: writeSegmenter } };

/** modeling_maskformer.py */
export const maskformer = defineFamily({
  modelTypes: ['maskformer'],
  inert: [
    {
      fields: /^(?:encoder_|backbone|use_timm_backbone$|dilation$|position_embedding_type$)/,
      part: 'decoder_config',
      reason: 'the half of DETR that MaskFormer leaves out',
    },
  ],
  readers: { processor: 'MaskFormer' },
  config,
  prefixes: ['model.'],
  heads,
});
