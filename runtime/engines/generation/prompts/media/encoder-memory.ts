import { RunError } from '../../../../core/errors.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import type { MediaEncoderSizes } from '../../../../core/network.js';
import { largestWithin, mediaRunBytes } from '../../../../core/run-memory.js';
import { inMegabytes } from '../../../../memory.js';
import { externalBytes } from '../../../../onnx/named-files.js';
import { bytesReader } from '../../../../onnx/protobuf.js';
import { availableMemory, MIN_AVAILABLE } from '../../../sessions/available-memory.js';

/** What one run of an encoder of media may take. */
export interface EncoderMemory {
  /** Bytes that are set aside for it. */
  reserved: number;
  /** @throws RunError 413 for more patches than there is memory for */
  check(patches: number, medium: string): void;
}

/**
 * Sets memory aside for the largest image, but no more than half of what the decoder's weights leave.
 * @param sizes of the encoder, where they are known
 * @param mostPatches of an image; Infinity where there is no limit
 */
export function planEncoderMemory(
  request: LoadRequest,
  sizes: MediaEncoderSizes | undefined,
  mostPatches: number,
): EncoderMemory {
  const room = availableMemory(request.memory);
  if (room === Infinity || !sizes) return { reserved: 0, check: () => {} };
  const bytesOf = (patches: number) => mediaRunBytes(sizes, patches, Boolean(request.spec.written));
  const share = Math.max(MIN_AVAILABLE, (room - decoderBytes(request)) / 2);
  const longest = largestWithin(share, mostPatches, bytesOf);
  return {
    reserved: Math.min(share, bytesOf(longest)),
    check(patches, medium) {
      if (patches <= longest) return;
      throw new RunError(
        'payload_too_large',
        `the ${medium} becomes ${patches} patches, whose run takes up to ${inMegabytes(bytesOf(patches))}; in the ` +
          `${inMegabytes(request.memory!.limit)} of memory that this server may use there is room for ${longest} patches: ` +
          `send a smaller ${medium}, or give the server more memory`,
      );
    },
  };
}

/** Weights that are still to be loaded. */
function decoderBytes({ spec }: LoadRequest): number {
  const decoder = spec.graphs['decoder_model_merged'];
  const written = spec.written?.find(({ path }) => path === decoder);
  if (written) return externalBytes(bytesReader(Buffer.from(written.content, 'base64')));
  return spec.files.reduce(
    (sum, { path, size }) => sum + (decoder !== undefined && path.startsWith(decoder) ? size : 0),
    0,
  );
}

/** What is left for the decoder. */
export function withoutReserved(request: LoadRequest, { reserved }: EncoderMemory): LoadRequest {
  const { memory } = request;
  return memory ? { ...request, memory: { ...memory, bodies: memory.bodies + reserved } } : request;
}
