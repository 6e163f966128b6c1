import type { ImageMaker } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { encodePng } from '../../../media/encode-png.js';
import { openDecoder } from '../decoder.js';
import { denoise } from '../denoise.js';
import { startingNoise } from '../latents.js';
import { decoderBytes, unetBytes } from '../../../core/diffusion-run-memory.js';
import { createRoom, hasOwnGraphs } from '../memory.js';
import { askedSize, sampleSize, type Size } from '../size.js';
import { isJoint, loadJoint } from './joint-transformer.js';
import { openScheduler, type PipelineIndex, readIndex, refuse, withoutOldHabits } from './pipeline.js';
import { openPairPrompts, openPrompts } from './text-conditions.js';
import { guidanceOf, openUnet, smallSize, type Unet } from './unet.js';

/** Defaults of the pipelines' `__call__`. */
interface Habits {
  steps: number;
  scale: number;
  /** Height and width of samples where the configuration has none. */
  sample: number;
}

const STABLE: Habits = { steps: 50, scale: 7.5, sample: 64 };

const HABITS: Readonly<Record<string, Habits>> = {
  StableDiffusionXLPipeline: { steps: 50, scale: 5, sample: 128 },
  LatentConsistencyModelPipeline: { steps: 4, scale: 8.5, sample: 64 },
};

/**
 * Stable Diffusion 1 and 2, SDXL and latent consistency models, and those of joint-transformer.ts, by the class that
 * model_index.json names.
 * @throws RunError `not_ready` for another class, scheduler or graph
 */
export async function loadTextToImage(request: LoadRequest): Promise<ImageMaker> {
  const index = await readIndex(request, 'text-to-image');
  if (isJoint(index)) return loadJoint(request, index);
  const pair = index.name === 'StableDiffusionXLPipeline';
  const consistent = index.name === 'LatentConsistencyModelPipeline';
  const [scheduler, unet, decoder, prompts] = await Promise.all([
    openScheduler(request, pair || consistent ? undefined : withoutOldHabits),
    openUnet(request),
    openDecoder(request, 'vae_decoder', { byChannels: pair }),
    pair
      ? openPairPrompts(request, index.json['force_zeros_for_empty_prompt'] !== false)
      : openPrompts(request),
  ]);
  const habits = HABITS[index.name] ?? STABLE;
  const { factor } = decoder;
  const usual = usualSize(index, unet, { habits, factor });
  const [room, own] = [createRoom(request), hasOwnGraphs(request)];
  const channels = Number(unet.config['in_channels'] ?? 4);
  return {
    example: {
      text: 'A lighthouse at dusk',
      params: { num_inference_steps: 1, seed: 0, ...smallSize(unet, usual) },
    },
    async make(text, options, work) {
      const { signal } = work;
      refuse(options, index.name, ['max_sequence_length']);
      if (consistent) refuse(options, index.name, ['negative_prompt', 'guidance_rescale', 'eta']);
      // StableDiffusionPipeline takes its own size unless both are given.
      const onlyBoth = !pair && !consistent;
      const size = askedSize(options, usual, { factor, maxPixels: request.maxPixels, onlyBoth });
      const latent = { height: size.height / factor, width: size.width / factor };
      const schedule = scheduler({
        steps: options.num_inference_steps ?? habits.steps,
        eta: options.eta ?? 0,
      });
      const scale = options.guidance_scale ?? habits.scale;
      const { guidance, conditions } = guidanceOf(unet, { scale, rescale: options.guidance_rescale ?? 0 });
      room(
        unetBytes(unet.config, latent, { rows: guidance ? 2 : 1, own }) + decoderBytes(decoder.config, size),
      );
      const dims = [1, channels, Math.floor(latent.height), Math.floor(latent.width)];
      const start = startingNoise(options, dims);
      const negative = options.negative_prompt ?? undefined;
      const read = await prompts({ prompt: text, negative, guided: guidance !== undefined, size, signal });
      const all = { ...conditions, ...read };
      const latents = await denoise({
        ...{ schedule, start, work },
        predict: (sample, timestep) =>
          unet.predict({ sample, timestep, dims, conditions: all, guidance, signal }),
      });
      const image = await decoder.decode(latents, dims, signal);
      return { mediaType: 'image/png', media: await encodePng(image) };
    },
  };
}

/** In pixels. */
function usualSize(
  { name }: PipelineIndex,
  { config }: Unet,
  { habits, factor }: { habits: Habits; factor: number },
): Size {
  const sample = sampleSize(config) ?? { height: habits.sample, width: habits.sample };
  const [major = 0, minor = 0] = String(config['_diffusers_version'] ?? '9')
    .split('.')
    .map(Number);
  // Configurations of Stable Diffusion from before 0.9 name a size that is too small.
  const old = name.endsWith('StableDiffusionPipeline') && major === 0 && minor < 9;
  const { height, width } = old && sample.height < 64 ? { height: 64, width: 64 } : sample;
  return { height: height * factor, width: width * factor };
}
