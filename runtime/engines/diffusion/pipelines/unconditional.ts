import type { ImageMaker } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { RunError } from '../../../core/errors.js';
import { encodePng } from '../../../media/encode-png.js';
import { type LatentDecoder, openDecoder } from '../decoder.js';
import { denoise } from '../denoise.js';
import { startingNoise } from '../latents.js';
import { decoderBytes, unetBytes } from '../../../core/diffusion-run-memory.js';
import { createRoom, hasOwnGraphs } from '../memory.js';
import { toImage } from '../pixels.js';
import { type Schedule, unscaled } from '../schedulers/scheduler.js';
import { sampleSize } from '../size.js';
import { openScheduler, readIndex, refuse } from './pipeline.js';
import { openUnet } from './unet.js';

/** Classes that make a scheduler of their own out of any configuration. */
const OWN_SCHEDULERS: Readonly<Record<string, string>> = {
  DDIMPipeline: 'DDIMScheduler',
  PNDMPipeline: 'PNDMScheduler',
};

/** Steps of DDPMPipeline, and of the others. */
const STEPS = { DDPMPipeline: 1000 } as Readonly<Record<string, number>>;
const USUAL_STEPS = 50;

/**
 * DDPM, DDIM and PNDM over pixels, and latent diffusion over those of a VQ autoencoder.
 * @throws RunError `not_ready` for another class, scheduler or graph
 */
export async function loadUnconditional(request: LoadRequest): Promise<ImageMaker> {
  const { name } = await readIndex(request, 'unconditional-image-generation');
  const own = OWN_SCHEDULERS[name];
  const [scheduler, unet, decoder] = await Promise.all([
    openScheduler(request, (config) => ({ ...config, ...(own ? { _class_name: own } : {}) })),
    openUnet(request),
    name === 'LDMPipeline' ? openDecoder(request, 'vqvae_decoder') : undefined,
  ]);
  const size = sampleSize(unet.config);
  if (!size) throw new RunError('not_ready', 'unet/config.json has no sample_size');
  const dims = [1, Number(unet.config['in_channels'] ?? 3), size.height, size.width];
  const room = createRoom(request);
  const factor = decoder?.factor ?? 1;
  const bytes =
    unetBytes(unet.config, size, { rows: 1, own: hasOwnGraphs(request) }) +
    (decoder
      ? decoderBytes(decoder.config, { height: size.height * factor, width: size.width * factor })
      : 0);
  const takesEta = name === 'DDIMPipeline' || name === 'LDMPipeline';
  return {
    example: { params: { num_inference_steps: 1, seed: 0 } },
    async make(_text, options, work) {
      const { signal } = work;
      if (!takesEta) refuse(options, name, ['eta']);
      room(bytes);
      const steps = options.num_inference_steps ?? STEPS[name] ?? USUAL_STEPS;
      const schedule = scheduler({ steps, eta: options.eta ?? 0 });
      const start = startingNoise(options, dims);
      const sample = await denoise({
        ...{ start, work, schedule: name === 'DDPMPipeline' ? asItIs(schedule) : schedule },
        predict: (values, timestep) =>
          unet.predict({ sample: values, timestep, dims, conditions: {}, signal }),
      });
      const image = await imageOf(sample, dims, { decoder, signal });
      return { mediaType: 'image/png', media: await encodePng(image) };
    },
  };
}

/** DDPMPipeline scales neither the noise nor what the network reads, whatever its scheduler. */
const asItIs = (schedule: Schedule): Schedule => ({ ...schedule, initNoiseSigma: 1, scale: unscaled });

function imageOf(
  sample: Float32Array,
  dims: readonly number[],
  { decoder, signal }: { decoder: LatentDecoder | undefined; signal: AbortSignal },
) {
  if (decoder) return decoder.decode(sample, dims, signal);
  const [, channels, height, width] = dims as [number, number, number, number];
  return toImage({ values: sample, channels, height, width }, signal);
}
