import type { LoadRequest } from '../../../core/load-request.js';
import { bytesForGraph, imageRunBytes } from '../../../core/media-run-memory.js';
import type { Image } from '../../../media/decoded-image.js';
import { openImageInput } from '../../images/image-input.js';
import { requireImageRoom } from '../../images/image-room.js';
import type { ProcessedImage } from '../../processors/image/image-processor.js';
import { type Json } from '../../repository/model-folder.js';
import { readModelConfig } from '../../repository/model-config.js';
import { graphSource } from '../../sessions/graph-source.js';
import { openSessionPoolOnDemand } from '../../sessions/growing-pool.js';
import { requireOutputs } from '../../sessions/require-outputs.js';
import type { Tensors } from '../../sessions/tensors.js';
import { createTensorEncoder } from '../../batching/tensor-encoder.js';
import { sampleImage } from './sample-image.js';
import { checkImageInputs, imageRow } from './image-inputs.js';

/** What the graph gave for an image, and what it looked at. */
export interface ImageRun {
  /** Every output of the graph, with a first axis of 1. */
  outputs: Tensors;
  image: Omit<ProcessedImage, 'values'>;
}

export interface ImageModel {
  /** config.json */
  config: Json;
  /** Name of the image processor, which in Python knows what outputs mean. */
  processor: string;
  /** What the repository says about its images. */
  processing: Json;
  /** @throws RunError `not_ready` where the graph lacks one of these outputs */
  require(needed: readonly string[]): void;
  /**
   * Decodes an image as memory allows, makes of it what the graph takes, and runs it. Goes no step further once `signal`
   * aborts.
   * @param beside inputs that the head gives beside the image; their memory is handed over
   * @throws RunError 413 too many pixels to decode or to compute, 422 broken image; the signal's reason
   */
  run(bytes: Uint8Array, signal: AbortSignal, beside?: Tensors): Promise<ImageRun>;
}

/**
 * Opens what every head over an encoder that reads one image needs; the graph is `model`.
 * @param needed outputs that the head reads
 * @param beside an example of what the head gives beside each image
 */
export async function openImageModel(
  request: LoadRequest,
  needed: readonly string[] = [],
  beside: Tensors = {},
): Promise<ImageModel> {
  const [config, pool] = await Promise.all([
    readModelConfig(request.dir),
    openSessionPoolOnDemand(request, graphSource(request, 'model')),
  ]);
  const { inputs, outputs } = pool;
  const given = new Set(Object.keys(beside));
  const imageInputs = inputs.filter(({ name }) => !given.has(name));
  checkImageInputs(imageInputs);
  requireOutputs(outputs, needed);
  const images = await openImageInput(request, config, () => encoder.availableBytes);
  const rowOf = (image: ProcessedImage) => ({ ...imageRow(imageInputs, image), ...beside });
  const sample = sampler((image) => rowOf(images.process(image)));
  const bytesOf = runBytesOf(request);
  const usualBytes = () => bytesOf(images.process(sampleImage(7)));
  const encoder = await createTensorEncoder(pool, { sample, usualBytes, memory: request.memory });
  return {
    config,
    processor: images.processor,
    processing: images.config,
    require: (needed) => requireOutputs(outputs, needed),
    async run(bytes, signal, others = {}) {
      const { values, ...image } = await images.read(bytes, signal);
      requireImageRoom(image, bytesOf, encoder.largestRun);
      const row = { ...imageRow(imageInputs, { values, ...image }), ...others };
      const outputs = await encoder.forward(row, signal, bytesOf(image));
      images.hasRun();
      return { outputs, image };
    },
  };
}

/** Bytes of the run of an image as the network reads it; 0 for patches, whose number is bounded. */
function runBytesOf({ spec }: LoadRequest) {
  const { image = [] } = spec.network ?? {};
  return ({ height, width, patches }: Omit<ProcessedImage, 'values'>): number =>
    patches ? 0 : bytesForGraph(spec, imageRunBytes(image, { height, width }));
}

/** Makes rows of two images in turn, each with memory of its own. */
function sampler(rowOf: (image: Image) => Tensors): (seed: number) => Tensors {
  const rowsOf = () => [7, 11].map((step) => rowOf(sampleImage(step)));
  let rows: Tensors[] | undefined;
  return (seed) =>
    Object.fromEntries(
      Object.entries((rows ??= rowsOf())[seed % 2]!).map(([name, { type, data, dims }]) => [
        name,
        { type, data: (data as Float32Array).slice(), dims },
      ]),
    );
}
