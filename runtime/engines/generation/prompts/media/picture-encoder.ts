import type { LoadRequest } from '../../../../core/load-request.js';
import { readEdges } from '../../../../media/image.js';
import type { Picture } from '../../../../media/picture.js';
import { createPictureReader } from '../../../../media/picture-reader.js';
import { availableMemory } from '../../../sessions/available-memory.js';
import type { TensorLike } from '../../../sessions/tensors.js';
import type { EncoderMemory } from './encoder-memory.js';
import { joined, type RunEncoder } from './encoder-runs.js';
import type { PictureFamily } from './family.js';
import { type FeatureCache, keyOf } from './feature-cache.js';
import type { MediumEncoder } from './medium-encoder.js';

/** What encoders of media have besides their families. */
export interface EncoderParts {
  run: RunEncoder;
  memory: EncoderMemory;
  kept: FeatureCache;
}

/** Pictures. They are decoded when their turn comes. */
export function createPictureEncoder(
  request: LoadRequest,
  family: PictureFamily,
  { run, memory, kept }: EncoderParts,
): MediumEncoder {
  const pictures = createPictureReader({
    ...request,
    availableBytes: () => availableMemory(request.memory),
  });
  return {
    family,
    async measure(bytes, { pictures: count }) {
      const several = family.inCompany === true && count > 1;
      const layout = family.layout(await readEdges(bytes, request.maxPixels), several);
      memory.check(layout.patches, 'picture');
      return layout;
    },
    async encode(bytes, { signal, pictures: count, question }) {
      const several = family.inCompany === true && count > 1;
      const asked = family.asks === true ? question : undefined;
      const key = await keyOf(bytes, several, asked);
      const known = kept.get(key);
      if (known) return known;
      const read = (picture: Picture) => ({
        ...{ layout: family.layout(picture, several), runs: family.prepare(picture, several, asked) },
        size: { width: picture.width, height: picture.height },
      });
      const { layout, runs, size } = await pictures.read(bytes, read, signal);
      memory.check(layout.patches, 'picture');
      const parts: TensorLike[] = [];
      for (const one of runs) {
        parts.push(await run(one, signal));
        pictures.hasRun();
      }
      const features = joined(parts);
      return kept.add(key, layout, family.arrange?.(features, size, several) ?? features);
    },
  };
}
