import type { LoadRequest } from '../../core/load-request.js';
import type { Picture } from '../../media/picture.js';
import { createPictureReader } from '../../media/picture-reader.js';
import { createImageProcessor, type ProcessedImage } from '../processors/image/image-processor.js';
import { readProcessorConfig } from '../processors/image/processor-config.js';
import type { Json } from '../repository/model-folder.js';
import { availableMemory } from '../sessions/available-memory.js';

/** How one model gets its pictures. */
export interface PictureInput {
  /** Python's image processor, which also knows what some models' outputs mean: `ViT`, `Detr`. */
  readonly processor: string;
  /** What the repository says about its pictures. */
  readonly config: Json;
  /** What the model reads of decoded pixels. */
  process(picture: Picture): ProcessedImage;
  /**
   * Decodes a picture as memory allows, and processes it.
   * @throws RunError 413 too many pixels, 422 broken picture; the signal's reason
   */
  read(bytes: Uint8Array, signal: AbortSignal): Promise<ProcessedImage>;
  /** To be called after each run: the first one shows how much memory is left for pixels. */
  hasRun(): void;
}

/**
 * Reads what the repository says about its pictures.
 * @param config config.json
 * @param availableBytes memory for pixels, asked after the first run; all that is left by default
 * @throws RunError `not_ready` for an image processor whose rules are not known
 */
export async function openPictureInput(
  request: LoadRequest,
  config: Json,
  availableBytes = () => availableMemory(request.memory),
): Promise<PictureInput> {
  const own = await readProcessorConfig(request, config);
  const { name, process, processInSlices } = createImageProcessor(own);
  const reader = createPictureReader({ ...request, availableBytes });
  return {
    ...{ processor: name, process, config: own },
    read: (bytes, signal) => reader.read(bytes, (picture) => processInSlices(picture, signal), signal),
    hasRun: () => reader.hasRun(),
  };
}
