import * as z from 'zod';
import type { NetworkFacts } from '../core/network.js';

/** Larger than any product of a network's sizes; what is beyond is a mistake. */
const size = z
  .number()
  .min(0)
  .max(2 ** 48);
const stride = z
  .number()
  .positive()
  .max(2 ** 48);

const encoder = { hidden: size, intermediate: size, heads: size };
const media = z.object({ ...encoder, patches: size, masked: z.boolean() });

const sizes = z.object({
  vocabulary: size,
  hidden: size,
  intermediate: size,
  layers: size,
  heads: size,
  positions: size,
  keys: size,
  keyLayers: size.optional(),
  patches: size,
  vision: media.optional(),
  audio: media.optional(),
});

const imagePart = z.object({
  strides: z.array(stride).min(1).max(16),
  frames: size.optional(),
  more: size.optional(),
  states: size,
  exported: size.optional(),
  exportedPairs: size.optional(),
});

const audio = z.object({
  strides: z.array(stride).min(1).max(64),
  widths: z.array(size).min(1).max(64),
  tensors: size,
  sizes: z.object(encoder),
});

/** `network` of model.json. Keys are written in this order. */
export const networkFacts = z.object({
  sizes,
  inner: z.record(z.string(), sizes).optional(),
  image: z.array(imagePart).min(1).max(256).optional(),
  audio: audio.optional(),
}) satisfies z.ZodType<NetworkFacts>;
