import * as z from 'zod';
import { defineFamily } from '../family.js';
import { convolution2d } from '../layers/convolution.js';
import type { GraphWriter } from '../writer/graph-writer.js';
import { OLDER_NAMES } from './attention.js';
import { channels } from './config.js';
import { decoderConfig, decoded, latents, giveSample } from './autoencoder.js';

const klConfig = z.object({
  ...decoderConfig,
  latent_channels: channels.default(4),
  use_post_quant_conv: z.boolean().default(true),
});

function writeKl(g: GraphWriter, c: z.output<typeof klConfig>): void {
  const width = c.latent_channels;
  const given = latents(g, width);
  const square = { from: width, to: width, kernel: 1 };
  const read = c.use_post_quant_conv ? convolution2d(g, given, 'post_quant_conv', square) : given;
  giveSample(g, decoded(g, read, c, width), c);
}

const klRoles = { vae_decoder: writeKl };

/** autoencoder_kl.py of diffusers */
export const autoencoderKl = defineFamily({
  modelTypes: ['AutoencoderKL'],
  config: klConfig,
  prefixes: [],
  older: OLDER_NAMES,
  heads: { 'text-to-image': klRoles, 'text-to-video': klRoles },
});
