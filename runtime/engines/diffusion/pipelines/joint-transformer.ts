import type { ImageMaker, ImageOptions } from '../../../core/handles/index.js';
import { RunError } from '../../../core/errors.js';
import { decoderBytes, transformerBytes } from '../../../core/diffusion-run-memory.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { encodePng } from '../../../media/encode-png.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { openDecoder } from '../decoder.js';
import { denoise } from '../denoise.js';
import type { Feed } from '../graph.js';
import type { Guidance } from '../guidance.js';
import { startingNoise } from '../latents.js';
import { createRoom } from '../memory.js';
import type { StartOptions } from '../schedulers/scheduler.js';
import { linspace } from '../schedulers/timesteps.js';
import { askedSize, sampleSize, type Size } from '../size.js';
import { openFluxPrompts } from './flux-prompts.js';
import { openScheduler, openShift, type PipelineIndex, refuse } from './pipeline.js';
import type { EncodePrompts } from './text-conditions.js';
import { openTriplePrompts } from './triple-prompts.js';
import { openUnet, smallSize } from './unet.js';

/** How a pipeline whose network is a transformer over patches and texts differs from others of its kind. */
interface Layout {
  /** Defaults of its `__call__`. */
  steps: number;
  scale: number;
  /** Default of the scheduler's `max_shift`. */
  mostShift: number;
  /** Parameters of other pipelines. */
  lacks: readonly Extract<keyof ImageOptions, string>[];
  openPrompts(request: LoadRequest, network: Json): Promise<EncodePrompts>;
  /** Channels of the latents. */
  channels(network: Json): number;
  /** Latents of a patch's edge. */
  patch(network: Json): number;
  /** The nearest size that it makes. */
  fit?(options: ImageOptions, edge: number): ImageOptions;
  /** Noise levels in place of the scheduler's own. */
  sigmas?(steps: number): StartOptions['sigmas'];
  guide(scale: number, network: Json): { guidance?: Guidance; conditions: Record<string, Feed> };
}

const number = (network: Json, name: string, standard: number): number =>
  firstNumber(network, name) ?? standard;

/** Flux puts four latents side by side. */
const FLUX_EDGE = 2;

const LAYOUTS: Readonly<Record<string, Layout>> = {
  StableDiffusion3Pipeline: {
    ...{ steps: 28, scale: 7, mostShift: 1.16, lacks: ['guidance_rescale', 'eta'] },
    openPrompts: openTriplePrompts,
    channels: (network) => number(network, 'in_channels', 16),
    patch: (network) => number(network, 'patch_size', 2),
    guide: (scale) => (scale > 1 ? { guidance: { scale, rescale: 0 }, conditions: {} } : { conditions: {} }),
  },
  FluxPipeline: {
    ...{ steps: 28, scale: 3.5, mostShift: 1.15, lacks: ['guidance_rescale', 'eta'] },
    openPrompts: openFluxPrompts,
    channels: (network) => Math.floor(number(network, 'in_channels', 64) / FLUX_EDGE ** 2),
    patch: () => FLUX_EDGE,
    fit: (options, edge) => {
      const fitting = (side: number | null | undefined) => side && Math.floor(side / edge) * edge;
      return { ...options, height: fitting(options.height), width: fitting(options.width) };
    },
    sigmas: (steps) => linspace(1, 1 / steps, steps),
    guide(scale, network) {
      const conditions: Record<string, Feed> = {};
      if (network['guidance_embeds'] === true) conditions['guidance'] = { values: [scale], dims: [1] };
      return { conditions };
    },
  },
};

/** Whether the class has a transformer in place of a UNet. */
export const isJoint = ({ name }: PipelineIndex): boolean => Object.hasOwn(LAYOUTS, name);

/** Height and width of samples where the configuration has none. */
const USUAL_SAMPLE: Size = { height: 128, width: 128 };

/**
 * Pipelines whose network is a transformer over the patches of an image and its text.
 * @throws RunError `not_ready` for a scheduler or graph that is not known
 */
export async function loadJoint(request: LoadRequest, { name }: PipelineIndex): Promise<ImageMaker> {
  const layout = LAYOUTS[name]!;
  const [scheduler, shift, network, decoder] = await Promise.all([
    openScheduler(request),
    openShift(request, layout.mostShift),
    openUnet(request, 'transformer'),
    openDecoder(request, 'vae_decoder', { shifts: true }),
  ]);
  const { config } = network;
  const prompts = await layout.openPrompts(request, config);
  const { factor } = decoder;
  const sample = sampleSize(config) ?? USUAL_SAMPLE;
  const usual = { height: sample.height * factor, width: sample.width * factor };
  const [patch, channels] = [layout.patch(config), layout.channels(config)];
  const room = createRoom(request);
  return {
    example: {
      text: 'A lighthouse at dusk',
      params: { num_inference_steps: 1, seed: 0, ...smallSize(network, usual) },
    },
    async make(text, options, work) {
      const { signal } = work;
      refuse(options, name, layout.lacks);
      const asked = layout.fit?.(options, factor * patch) ?? options;
      const size = askedSize(asked, usual, { step: factor * patch, maxPixels: request.maxPixels });
      const grid = { height: size.height / (factor * patch), width: size.width / (factor * patch) };
      requirePositions(grid, config, factor * patch);
      const { guidance, conditions } = layout.guide(options.guidance_scale ?? layout.scale, config);
      const rows = guidance ? 2 : 1;
      room(transformerBytes(config, grid.height * grid.width, rows) + decoderBytes(decoder.config, size));
      const steps = options.num_inference_steps ?? layout.steps;
      const schedule = scheduler({
        ...{ steps, mu: shift(grid.height * grid.width), sigmas: layout.sigmas?.(steps) },
      });
      const dims = [1, channels, grid.height * patch, grid.width * patch];
      const start = startingNoise(options, dims);
      const negative = options.negative_prompt ?? undefined;
      const length = options.max_sequence_length ?? undefined;
      const asks = { prompt: text, negative, guided: guidance !== undefined, size, length, signal };
      const read = await prompts(asks);
      const all = { ...conditions, ...read };
      const latents = await denoise({
        ...{ schedule, start, work },
        predict: (values, timestep) =>
          network.predict({ sample: values, timestep, dims, conditions: all, guidance, signal }),
      });
      return { mediaType: 'image/png', media: await encodePng(await decoder.decode(latents, dims, signal)) };
    },
  };
}

/** @throws RunError 422 for more patches in a row than the network has positions for */
function requirePositions(grid: Size, config: Json, edge: number): void {
  const most = firstNumber(config, 'pos_embed_max_size') ?? Infinity;
  for (const name of ['height', 'width'] as const)
    if (grid[name] > most)
      throw new RunError('unprocessable', `params.${name}: this model makes up to ${most * edge} pixels`);
}
