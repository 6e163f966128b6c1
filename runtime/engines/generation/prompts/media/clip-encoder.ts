import { RunError } from '../../../../core/errors.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import { requireFfmpeg } from '../../../../media/ffmpeg.js';
import { withVideo } from '../../../../media/video.js';
import type { TensorLike } from '../../../sessions/tensors.js';
import { joined } from './encoder-runs.js';
import type { ClipFamily, EncoderRun } from './family.js';
import { keyOf } from './feature-cache.js';
import type { MediumEncoder } from './medium-encoder.js';
import type { EncoderParts } from './image-encoder.js';

/**
 * Videos. Frames go through the encoder as they are decoded, so that few of them are in memory.
 * @throws RunError not_ready without ffmpeg
 */
export async function openClipEncoder(
  request: LoadRequest,
  family: ClipFamily,
  { run, memory, kept }: EncoderParts,
): Promise<MediumEncoder> {
  await requireFfmpeg();
  return {
    family,
    async measure(bytes, { sampling, signal }) {
      const known = kept.get(await keyOf(bytes, 'video', sampling));
      if (known) return known;
      return withVideo(bytes, { limits: request, signal }, async ({ facts }) => {
        const { layout } = family.choose(facts, sampling);
        memory.check(layout.patches, 'video');
        return layout;
      });
    },
    async encode(bytes, { sampling, signal }) {
      const key = await keyOf(bytes, 'video', sampling);
      const known = kept.get(key);
      if (known) return known;
      return withVideo(bytes, { limits: request, signal }, async ({ facts, frames }) => {
        const { numbers, layout } = family.choose(facts, sampling);
        memory.check(layout.patches, 'video');
        const clip = family.collect(layout);
        const parts: TensorLike[] = [];
        const encode = async (runs: EncoderRun[]) => {
          for (const one of runs) parts.push(await run(one, signal));
        };
        let found = 0;
        await frames(numbers, async (frame) => {
          found++;
          await encode(clip.add(frame));
        });
        if (found < numbers.length) throw tooFew(numbers.length, found);
        await encode(clip.end());
        const features = joined(parts);
        return kept.add(key, layout, family.arrange?.(features) ?? features);
      });
    },
  };
}

function tooFew(wanted: number, found: number): RunError {
  return new RunError(
    'unprocessable',
    `the video is broken: ${wanted} frames were to be read of it, and ${found} can be decoded`,
  );
}
