import type { LoadRequest } from '../../../../core/load-request.js';
import { readEdges } from '../../../../media/decode-image.js';
import type { Image } from '../../../../media/decoded-image.js';
import { createImageReader } from '../../../../media/image-reader.js';
import { availableMemory } from '../../../sessions/available-memory.js';
import type { TensorLike } from '../../../sessions/tensors.js';
import type { EncoderMemory } from './encoder-memory.js';
import { joined, type RunEncoder } from './encoder-runs.js';
import type { ImageFamily } from './family.js';
import { type FeatureCache, keyOf } from './feature-cache.js';
import type { MediumEncoder } from './medium-encoder.js';

/** What encoders of media have besides their families. */
export interface EncoderParts {
  run: RunEncoder;
  memory: EncoderMemory;
  kept: FeatureCache;
}

/** Images. They are decoded when their turn comes. */
export function createImageEncoder(
  request: LoadRequest,
  family: ImageFamily,
  { run, memory, kept }: EncoderParts,
): MediumEncoder {
  const images = createImageReader({
    ...request,
    availableBytes: () => availableMemory(request.memory),
  });
  return {
    family,
    async measure(bytes, { images: count }) {
      const several = family.dependsOnCount === true && count > 1;
      const layout = family.layout(await readEdges(bytes, request.maxPixels), several);
      memory.check(layout.patches, 'image');
      return layout;
    },
    async encode(bytes, { signal, images: count, question }) {
      const several = family.dependsOnCount === true && count > 1;
      const asked = family.asks === true ? question : undefined;
      const key = await keyOf(bytes, several, asked);
      const known = kept.get(key);
      if (known) return known;
      const read = (image: Image) => ({
        ...{ layout: family.layout(image, several), runs: family.prepare(image, several, asked) },
        size: { width: image.width, height: image.height },
      });
      const { layout, runs, size } = await images.read(bytes, read, signal);
      memory.check(layout.patches, 'image');
      const parts: TensorLike[] = [];
      for (const one of runs) {
        parts.push(await run(one, signal));
        images.hasRun();
      }
      const features = joined(parts);
      return kept.add(key, layout, family.arrange?.(features, size, several) ?? features);
    },
  };
}
