import { webcrypto } from 'node:crypto';
import { createByteCache } from '../../../../core/byte-cache.js';
import type { TensorLike } from '../../../sessions/tensors.js';
import type { MediumLayout } from './family.js';
import type { EncodedMedium } from './media-prompt.js';

/** Bytes of features that are kept: the media of a conversation come again with each of its turns. */
const KEPT_BYTES = 16 * 2 ** 20;

/** Features of media, by what they were made of. */
export interface FeatureCache {
  get(key: string): EncodedMedium | undefined;
  add(key: string, layout: MediumLayout, features: TensorLike): EncodedMedium;
}

export function createFeatureCache(): FeatureCache {
  const kept = createByteCache<EncodedMedium>(KEPT_BYTES, (_, { features }) => features.data.length * 4);
  let lastId = 0;
  return {
    get: (key) => kept.get(key),
    add(key, layout, features) {
      const encoded = { ...layout, id: ++lastId, count: features.dims[0]!, features };
      kept.set(key, encoded);
      return encoded;
    },
  };
}

/** The same for the same file, read in the same way. Off the main thread: files may be large. */
export async function keyOf(bytes: Uint8Array, ...read: unknown[]): Promise<string> {
  const hash = await webcrypto.subtle.digest('SHA-256', bytes);
  return JSON.stringify([Buffer.from(hash).toString('base64'), ...read]);
}
