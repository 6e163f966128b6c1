import type { LoadRequest } from '../../core/load-request.js';
import type { Image } from '../../media/decoded-image.js';
import { createImageReader } from '../../media/image-reader.js';
import { createImageProcessor, type ProcessedImage } from '../processors/image/image-processor.js';
import { readProcessorConfig } from '../processors/image/processor-config.js';
import type { Json } from '../repository/model-folder.js';
import { availableMemory } from '../sessions/available-memory.js';

/** How one model gets its images. */
export interface ImageInput {
  /** Python's image processor, which also knows what some models' outputs mean: `ViT`, `Detr`. */
  readonly processor: string;
  /** What the repository says about its images. */
  readonly config: Json;
  /** What the model reads of decoded pixels. */
  process(image: Image): ProcessedImage;
  /**
   * Decodes an image as memory allows, and processes it.
   * @throws RunError 413 too many pixels, 422 broken image; the signal's reason
   */
  read(bytes: Uint8Array, signal: AbortSignal): Promise<ProcessedImage>;
  /** To be called after each run: the first one shows how much memory is left for pixels. */
  hasRun(): void;
}

/**
 * Reads what the repository says about its images.
 * @param config config.json
 * @param availableBytes memory for pixels, asked after the first run; all that is left by default
 * @throws RunError `not_ready` for an image processor whose rules are not known
 */
export async function openImageInput(
  request: LoadRequest,
  config: Json,
  availableBytes = () => availableMemory(request.memory),
): Promise<ImageInput> {
  const own = await readProcessorConfig(request, config);
  const { name, process, processInSlices } = createImageProcessor(own);
  const reader = createImageReader({ ...request, availableBytes });
  return {
    ...{ processor: name, process, config: own },
    read: (bytes, signal) => reader.read(bytes, (image) => processInSlices(image, signal), signal),
    hasRun: () => reader.hasRun(),
  };
}
