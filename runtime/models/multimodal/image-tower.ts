import type { z } from 'zod';
import { layerNorm } from '../layers/norm.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { clipImages, embeddedByClip } from '../vision/clip.js';
import { type ImageTower, towerSizes, towerStates } from '../bases/vision/clip-towers.js';
import { embeddedBySiglip, siglipImages } from '../vision/siglip.js';
import { innerConfig } from './inner-config.js';
import { PIXTRAL_EPSILON, pixtralImages, pixtralStates } from './pixtral.js';

/** An encoder of images that a language model looks through. It declares its input, `pixel_values`. */
export interface Tower {
  width: number;
  layers: number;
  /** Of an image: patches along an edge, and tokens before those of the patches. */
  side: number;
  classes: number;
  /** Of its norms. */
  epsilon: number;
  /** What so many layers read, and what the last of them gives: float32 [rows, tokens, width] each. */
  states(g: GraphWriter, layers: number): Value[];
  /** The same of one that takes images of any size, with the lines and columns of their patches, int64 [2]. */
  anySize?(g: GraphWriter, layers: number): { states: Value[]; grid: Value };
  /** What the encoder gives in the end, of what its last layer does. */
  finish(g: GraphWriter, x: Value): Value;
}

const base = 'vision_model';

const sizesOf = (c: ImageTower) => ({
  ...{ width: c.hidden_size, layers: c.num_hidden_layers, epsilon: c.layer_norm_eps },
  side: Math.floor(c.image_size / c.patch_size),
});

const TOWERS: Readonly<Record<string, z.ZodType<Tower>>> = {
  clip_vision_model: clipImages.transform((c) => ({
    ...{ ...sizesOf(c), classes: 1 },
    states: (g, count) => towerStates(g, embeddedByClip(g, c), { ...c, num_hidden_layers: count }, { base }),
    finish: (_, x) => x,
  })),
  siglip_vision_model: siglipImages.transform((c) => ({
    ...{ ...sizesOf(c), classes: 0 },
    states: (g, count) =>
      towerStates(g, embeddedBySiglip(g, c), { ...c, num_hidden_layers: count }, { base }),
    finish: (g, x) => layerNorm(g, x, `${base}.post_layernorm`, towerSizes(c)),
  })),
  pixtral: pixtralImages.transform((c) => ({
    ...{ width: c.hidden_size, layers: c.num_hidden_layers, epsilon: PIXTRAL_EPSILON, classes: 0 },
    side: Math.floor(c.image_size / c.patch_size),
    states: (g, count) => pixtralStates(g, c, count).states,
    anySize: (g, count) => pixtralStates(g, c, count),
    finish: (_, x) => x,
  })),
};

/** The configuration of such an encoder inside of a model's. @param absent stands for one that is left out */
export const imageEncoder = (usual: string, absent: Readonly<Record<string, unknown>> = {}) =>
  innerConfig((type) => (Object.hasOwn(TOWERS, type) ? TOWERS[type] : undefined), { usual, absent });
