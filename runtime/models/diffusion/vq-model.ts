import * as z from 'zod';
import { defineFamily } from '../family.js';
import { convolution2d } from '../layers/convolution.js';
import { matMulTransposed } from '../layers/linear.js';
import { gridOf, imageOf, tokensOf } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import { OLDER_NAMES } from './attention.js';
import { channels } from './config.js';
import { decoderConfig, decoded, latents, giveSample } from './autoencoder.js';

const vqConfig = z.object({
  ...decoderConfig,
  latent_channels: channels.default(3),
  num_vq_embeddings: size.default(256),
  vq_embed_dim: channels.nullish(),
  norm_type: z.literal('group').default('group'),
});

/** The nearest vector of the code book for each place of float32 [rows, width, height, width of the image]. */
function quantized(g: GraphWriter, x: Value, { rows, width }: { rows: number; width: number }): Value {
  const table = g.weight('quantize.embedding.weight', [rows, width]);
  const tokens = tokensOf(g, x);
  const squares = g.node('ReduceSum', [g.node('Mul', [table, table]), g.ints([1])], { keepdims: 0 });
  // |x - e|² without |x|², which is the same for all.
  const distances = g.node('Add', [matMulTransposed(g, tokens, table, -2), squares]);
  const nearest = g.node('ArgMin', [distances], { axis: 2, keepdims: 0 });
  return imageOf(g, g.node('Gather', [table, nearest]), gridOf(g, x));
}

function writeVq(g: GraphWriter, c: z.output<typeof vqConfig>): void {
  const width = c.vq_embed_dim ?? c.latent_channels;
  const found = quantized(g, latents(g, width), { rows: c.num_vq_embeddings, width });
  const read = convolution2d(g, found, 'post_quant_conv', { from: width, to: c.latent_channels, kernel: 1 });
  giveSample(g, decoded(g, read, c, c.latent_channels), c);
}

/** Latents become those of a code book first. vq_model.py of diffusers */
export const vqModel = defineFamily({
  modelTypes: ['VQModel'],
  config: vqConfig,
  prefixes: [],
  older: OLDER_NAMES,
  heads: { 'unconditional-image': { vqvae_decoder: writeVq } },
});
