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
    async measure(bytes) {
      const layout = family.layout(await readEdges(bytes, request.maxPixels));
      memory.check(layout.patches, 'picture');
      return layout;
    },
    async encode(bytes, { signal }) {
      const key = await keyOf(bytes);
      const known = kept.get(key);
      if (known) return known;
      const read = (picture: Picture) => ({ layout: family.layout(picture), runs: family.prepare(picture) });
      const { layout, runs } = await pictures.read(bytes, read, signal);
      memory.check(layout.patches, 'picture');
      const parts: TensorLike[] = [];
      for (const one of runs) {
        parts.push(await run(one, signal));
        pictures.hasRun();
      }
      return kept.add(key, layout, joined(parts));
    },
  };
}
