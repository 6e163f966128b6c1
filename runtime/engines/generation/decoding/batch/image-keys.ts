import type { LoadRequest } from '../../../../core/load-request.js';
import { graphSource } from '../../../sessions/graph-source.js';
import { openSession } from '../../../sessions/session.js';
import { toOrtTensor } from '../../../sessions/tensors.js';
import { type CacheLayout, kvBytesPerToken } from '../cache/kv-cache.js';
import { CROSS_ROLE, readSource } from '../encoder-decoder/running-cross-decoder.js';
import type { ImageKeys } from './batch-decoder.js';

/** Opens the graph that makes keys and values of images for the layers that look at them. */
export async function openImageKeys(
  request: LoadRequest,
  { source = [], type }: CacheLayout,
): Promise<ImageKeys> {
  const session = await openSession(graphSource(request, CROSS_ROLE), { ...request, arena: true });
  return {
    bytesPerState: kvBytesPerToken({ ports: source, type }),
    read: ({ data, dims: [length, width] }) =>
      readSource(session, source, toOrtTensor({ type: 'float32', data, dims: [1, length!, width!] })),
  };
}
