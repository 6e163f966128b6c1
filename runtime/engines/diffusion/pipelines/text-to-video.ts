import { RunError } from '../../../core/errors.js';
import type { ImageMaker, VideoOptions } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { openVideoEncoder } from '../../../media/encode-video.js';
import { type LatentDecoder, openDecoder } from '../decoder.js';
import { denoise } from '../denoise.js';
import { framesFirst, withFramesFirst } from '../frames.js';
import { startingNoise } from '../latents.js';
import { decoderBytes, unetBytes } from '../../../core/diffusion-run-memory.js';
import { createRoom, hasOwnGraphs } from '../memory.js';
import { askedSize, sampleSize } from '../size.js';
import { openScheduler, readIndex } from './pipeline.js';
import { openPrompts } from './text-conditions.js';
import { guidanceOf, openUnet, smallSize } from './unet.js';

/** Defaults of TextToVideoSDPipeline's `__call__`. */
const [STEPS, SCALE, FRAMES] = [50, 9, 16];
/** diffusers writes its videos so, and has no parameter for it. */
const FRAMES_PER_SECOND = 8;

/**
 * TextToVideoSDPipeline: a network over all frames at once, a decoder for each of them.
 * @throws RunError `not_ready` for another class, scheduler or graph, or without an ffmpeg that encodes
 */
export async function loadTextToVideo(request: LoadRequest): Promise<ImageMaker<VideoOptions>> {
  await readIndex(request, 'text-to-video');
  const encoder = await openVideoEncoder();
  const [scheduler, unet, decoder, prompts] = await Promise.all([
    openScheduler(request),
    openUnet(request),
    openDecoder(request, 'vae_decoder'),
    openPrompts(request),
  ]);
  const { factor } = decoder;
  const sample = sampleSize(unet.config) ?? { height: 32, width: 32 };
  const usual = { height: sample.height * factor, width: sample.width * factor };
  const [room, own] = [createRoom(request), hasOwnGraphs(request)];
  const channels = Number(unet.config['in_channels'] ?? 4);
  const short = { num_inference_steps: 1, num_frames: 2, seed: 0, ...smallSize(unet, usual) };
  return {
    example: { text: 'Waves roll onto a beach', params: short },
    async make(text, options, work) {
      const { signal } = work;
      const [frames, format] = [options.num_frames ?? FRAMES, options.format ?? 'mp4'];
      if (!encoder.formats.includes(format))
        throw new RunError('unprocessable', `params.format: this server can’t write ${format}`);
      const size = askedSize(options, usual, { factor, maxPixels: request.maxPixels });
      const latent = { height: Math.floor(size.height / factor), width: Math.floor(size.width / factor) };
      const { guidance, conditions } = guidanceOf(unet, {
        scale: options.guidance_scale ?? SCALE,
        rescale: 0,
      });
      room(
        frames * unetBytes(unet.config, latent, { rows: guidance ? 2 : 1, own }) +
          decoderBytes(decoder.config, size),
      );
      const dims = [1, channels, frames, latent.height, latent.width];
      const steps = options.num_inference_steps ?? STEPS;
      const schedule = scheduler({ steps, rows: frames, eta: options.eta ?? 0 });
      const start = startingNoise(options, dims);
      const negative = options.negative_prompt ?? undefined;
      const read = await prompts({ prompt: text, negative, guided: guidance !== undefined, size, signal });
      const all = { ...conditions, ...read };
      const latents = await denoise({
        ...{ start, work, schedule: withFramesFirst(schedule, channels, frames) },
        predict: (values, timestep) =>
          unet.predict({ sample: values, timestep, dims, conditions: all, guidance, signal }),
      });
      const images = { latents, dims, decoder, signal };
      const video = { ...size, fps: FRAMES_PER_SECOND, frames: decodedFrames(images) };
      return { mediaType: `video/${format}`, media: await encoder.encode(video, format, signal) };
    },
  };
}

interface Frames {
  latents: Float32Array;
  /** 1, channels, frames, height, width. */
  dims: readonly number[];
  decoder: LatentDecoder;
  signal: AbortSignal;
}

/** Decodes a frame when it is asked for. */
async function* decodedFrames({ latents, dims, decoder, signal }: Frames): AsyncGenerator<Uint8Array> {
  const [, channels, frames, height, width] = dims as [number, number, number, number, number];
  const ordered = framesFirst(latents, channels, frames);
  const size = channels * height * width;
  for (let frame = 0; frame < frames; frame++) {
    const part = ordered.subarray(frame * size, (frame + 1) * size);
    const { data } = await decoder.decode(part, [1, channels, height, width], signal);
    yield data;
  }
}
