import type { LoadRequest } from '../../core/load-request.js';
import type { Image } from '../../media/decoded-image.js';
import { firstNumber, type Json } from '../repository/model-folder.js';
import { openGraph, outputOf } from './graph.js';
import { toImage } from './pixels.js';

/** The part of an autoencoder that makes images of latents. */
export interface LatentDecoder {
  readonly config: Json;
  /** Pixels of the image for one of the latents, in height as in width. */
  readonly factor: number;
  /**
   * One image.
   * @param dims 1, channels, height, width
   */
  decode(latents: Float32Array, dims: readonly number[], signal: AbortSignal): Promise<Image>;
}

/** Default of AutoencoderKL and VQModel. */
const SCALING = 0.18215;

/**
 * @param byChannels the pipeline reads the mean and spread of each channel, where the configuration has them
 * @param shifts it adds the configuration's `shift_factor`
 */
export async function openDecoder(
  request: LoadRequest,
  role: 'vae_decoder' | 'vqvae_decoder',
  { byChannels = false, shifts = false } = {},
): Promise<LatentDecoder> {
  const graph = await openGraph(request, role, ['latent_sample', 'sample']);
  const { config } = graph;
  const blocks = config['block_out_channels'];
  const unscale = createUnscale(config, { byChannels, shifts });
  return {
    config,
    factor: Array.isArray(blocks) ? 2 ** (blocks.length - 1) : 8,
    async decode(latents, dims, signal) {
      const values = unscale(latents, dims[1]!);
      const [name] = graph.inputs.map((input) => input.name);
      const { values: pixels, dims: shape } = outputOf(
        await graph.run({ [name!]: { values, dims } }, signal),
        'sample',
      );
      const [, channels = 3, height = 0, width = 0] = shape;
      return toImage({ values: pixels, channels, height, width }, signal);
    },
  };
}

/** Undoes the scaling of latents: by one factor, or by the mean and spread of each channel. */
function createUnscale(config: Json, { byChannels, shifts }: { byChannels: boolean; shifts: boolean }) {
  const shift = (shifts ? firstNumber(config, 'shift_factor') : undefined) ?? 0;
  const factor = firstNumber(config, 'scaling_factor') ?? SCALING;
  const [means, spreads] = [config['latents_mean'], config['latents_std']];
  const each = byChannels && Array.isArray(means) && Array.isArray(spreads);
  return (latents: Float32Array, channels: number): Float32Array => {
    if (!each) return latents.map((value) => value / factor + shift);
    const plane = latents.length / channels;
    return latents.map((value, i) => {
      const channel = Math.floor(i / plane);
      return (value * Number(spreads[channel])) / factor + Number(means[channel]);
    });
  };
}
