import type { AnyFamily } from '../family.js';
import { autoencoderKl } from './autoencoder-kl.js';
import { vqModel } from './vq-model.js';
import { flux } from './flux.js';
import { sd3 } from './sd3.js';
import { unet2d } from './unet-2d.js';
import { unet2dCondition } from './unet-2d-condition.js';
import { unet3dCondition } from './unet-3d-condition.js';

/** Networks of diffusers' pipelines. */
export const DIFFUSION: readonly AnyFamily[] = [
  ...[unet2dCondition, unet2d, unet3dCondition, sd3, flux],
  ...[autoencoderKl, vqModel],
];
