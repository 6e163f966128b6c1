import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { createByteCache } from '../../../../core/byte-cache.js';
import { RunError } from '../../../../core/errors.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import { createPictureReader } from '../../../../media/picture-reader.js';
import { createSingleRuns } from '../../../batching/single-runs.js';
import { availableMemory } from '../../../sessions/available-memory.js';
import { openSessionPool } from '../../../sessions/session-pool.js';
import type { Picture } from '../../../../media/picture.js';
import type { TensorLike, Tensors } from '../../../sessions/tensors.js';
import { readEdges } from '../../../../media/image.js';
import type { Json } from '../../../repository/model-folder.js';
import type { PictureFamily, PictureLayout } from './family.js';
import { planVisionMemory, type VisionMemory } from './vision-memory.js';

/** A picture that has been through the vision encoder. */
export interface EncodedPicture extends PictureLayout {
  /** The same for the same file only, as long as it is remembered. */
  id: number;
  /** [count, width] */
  features: TensorLike;
}

export interface VisionEncoder {
  /**
   * What a picture will be, before any of it is decoded.
   * @throws RunError 413 too many pixels or patches, 415 no picture, 422 broken picture
   */
  measure(bytes: Uint8Array): Promise<PictureLayout>;
  /** @throws RunError 413 too many pixels, 415 no picture, 422 broken picture; the signal's reason */
  encode(bytes: Uint8Array, signal: AbortSignal): Promise<EncodedPicture>;
  readonly memory: VisionMemory;
}

/** Bytes of features that are kept: the pictures of a conversation come again with each of its turns. */
const KEPT_BYTES = 16 * 2 ** 20;

/** Opens the graph `vision_encoder`. It runs beside the decoder, on a thread of its own. */
export async function openVisionEncoder(
  request: LoadRequest,
  config: Json,
  family: Pick<PictureFamily, 'layout' | 'prepare' | 'mostPatches'>,
): Promise<VisionEncoder> {
  const path = join(request.dir, request.spec.graphs['vision_encoder']!);
  const pool = await openSessionPool({ ...request, workers: Math.min(1, request.workers) }, path);
  const run = createSingleRuns(pool);
  const { inputs, outputs } = pool;
  const [output] = outputs;
  const memory = planVisionMemory(request, config, family.mostPatches);
  const pictures = createPictureReader({
    ...request,
    availableBytes: () => availableMemory(request.memory),
  });
  const kept = createByteCache<EncodedPicture>(KEPT_BYTES, (_, { features }) => features.data.length * 4);
  let lastId = 0;

  async function featuresOf(feeds: Tensors, signal: AbortSignal): Promise<TensorLike> {
    const wanted = inputs.map(({ name }) => {
      const tensor = feeds[name];
      if (tensor) return [name, tensor] as const;
      throw new RunError('not_ready', `the vision encoder wants an input that is not known: ${name}`);
    });
    const features = (await run(Object.fromEntries(wanted), signal))[output!.name]!;
    pictures.hasRun();
    return features;
  }

  return {
    memory,
    async measure(bytes) {
      const layout = family.layout(await readEdges(bytes, request.maxPixels));
      memory.check(layout.patches);
      return layout;
    },
    async encode(bytes, signal) {
      const hash = createHash('sha256').update(bytes).digest('base64');
      const known = kept.get(hash);
      if (known) return known;
      const read = (picture: Picture) => ({ layout: family.layout(picture), runs: family.prepare(picture) });
      const { layout, runs } = await pictures.read(bytes, read, signal);
      memory.check(layout.patches);
      const parts: TensorLike[] = [];
      for (const feeds of runs) parts.push(await featuresOf(feeds(), signal));
      const features = joined(parts);
      const encoded = { ...layout, id: ++lastId, count: features.dims[0]!, features };
      kept.set(hash, encoded);
      return encoded;
    },
  };
}

/** Features of all runs of a picture as [count, width]. */
function joined(parts: readonly TensorLike[]): TensorLike {
  const [{ type, data, dims }] = parts as [TensorLike];
  const width = dims.at(-1)!;
  if (parts.length === 1) return { type, data, dims: [data.length / width, width] };
  const total = parts.reduce((sum, part) => sum + part.data.length, 0);
  const all = new (data.constructor as Float32ArrayConstructor)(total);
  let at = 0;
  for (const part of parts) {
    all.set(part.data as Float32Array, at);
    at += part.data.length;
  }
  return { type, data: all, dims: [total / width, width] };
}
