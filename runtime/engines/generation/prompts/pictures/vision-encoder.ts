import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { createByteCache } from '../../../../core/byte-cache.js';
import { RunError } from '../../../../core/errors.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import { createPictureReader } from '../../../../media/picture-reader.js';
import { createSingleRuns } from '../../../batching/single-runs.js';
import { availableMemory } from '../../../sessions/available-memory.js';
import { openSessionPool } from '../../../sessions/session-pool.js';
import type { TensorLike } from '../../../sessions/tensors.js';
import type { PictureFamily, PreparedPicture } from './family.js';

/** A picture that has been through the vision encoder. */
export interface EncodedPicture extends Omit<PreparedPicture, 'feeds'> {
  /** The same for the same file only, as long as it is remembered. */
  id: number;
  /** Rows of the features. */
  count: number;
  /** [count, width] */
  features: TensorLike;
}

export interface VisionEncoder {
  /** @throws RunError 413 too many pixels, 415 no picture, 422 broken picture; the signal's reason */
  encode(bytes: Uint8Array, signal: AbortSignal): Promise<EncodedPicture>;
}

/** Bytes of features that are kept: the pictures of a conversation come again with each of its turns. */
const KEPT_BYTES = 16 * 2 ** 20;

/** Opens the graph `vision_encoder`. It runs beside the decoder, on a thread of its own. */
export async function openVisionEncoder(
  request: LoadRequest,
  { prepare }: Pick<PictureFamily, 'prepare'>,
): Promise<VisionEncoder> {
  const path = join(request.dir, request.spec.graphs['vision_encoder']!);
  const pool = await openSessionPool({ ...request, workers: Math.min(1, request.workers) }, path);
  const run = createSingleRuns(pool);
  const { inputs, outputs } = pool;
  const [output] = outputs;
  const pictures = createPictureReader({
    ...request,
    availableBytes: () => availableMemory(request.memory),
  });
  const kept = createByteCache<EncodedPicture>(KEPT_BYTES, (_, { features }) => features.data.length * 4);
  let lastId = 0;

  return {
    async encode(bytes, signal) {
      const hash = createHash('sha256').update(bytes).digest('base64');
      const known = kept.get(hash);
      if (known) return known;
      const { feeds, ...rest } = await pictures.read(bytes, prepare, signal);
      const wanted = inputs.map(({ name }) => {
        const tensor = feeds[name];
        if (tensor) return [name, tensor] as const;
        throw new RunError('not_ready', `the vision encoder wants an input that is not known: ${name}`);
      });
      const features = (await run(Object.fromEntries(wanted), signal))[output!.name]!;
      pictures.hasRun();
      const width = features.dims.at(-1)!;
      const count = features.data.length / width;
      const encoded = { ...rest, id: ++lastId, count, features: { ...features, dims: [count, width] } };
      kept.set(hash, encoded);
      return encoded;
    },
  };
}
