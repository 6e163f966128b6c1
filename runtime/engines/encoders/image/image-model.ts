import type { LoadRequest } from '../../../core/load-request.js';
import { bytesForGraph, imageRunBytes } from '../../../core/media-run-memory.js';
import type { Picture } from '../../../media/picture.js';
import { openPictureInput } from '../../pictures/picture-input.js';
import { requirePictureRoom } from '../../pictures/picture-room.js';
import type { ProcessedImage } from '../../processors/image/image-processor.js';
import { type Json } from '../../repository/model-folder.js';
import { readModelConfig } from '../../repository/model-config.js';
import { graphSource } from '../../sessions/graph-source.js';
import { openSessionPoolOnDemand } from '../../sessions/growing-pool.js';
import { requireOutputs } from '../../sessions/require-outputs.js';
import type { Tensors } from '../../sessions/tensors.js';
import { createTensorEncoder } from '../../batching/tensor-encoder.js';
import { samplePicture } from './sample-picture.js';
import { checkImageInputs, imageRow } from './image-inputs.js';

/** What the graph gave for a picture, and what it looked at. */
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
  /** What the repository says about its pictures. */
  processing: Json;
  /**
   * Decodes a picture as memory allows, makes of it what the graph takes, and runs it. Goes no step further once `signal`
   * aborts.
   * @param beside inputs that the head gives beside the picture; their memory is handed over
   * @throws RunError 413 too many pixels to decode or to compute, 422 broken picture; the signal's reason
   */
  run(bytes: Uint8Array, signal: AbortSignal, beside?: Tensors): Promise<ImageRun>;
}

/**
 * Opens what every head over an encoder that reads one picture needs; the graph is `model`.
 * @param needed outputs that the head reads
 * @param beside an example of what the head gives beside each picture
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
  const pictured = inputs.filter(({ name }) => !given.has(name));
  checkImageInputs(pictured);
  requireOutputs(outputs, needed);
  const pictures = await openPictureInput(request, config, () => encoder.availableBytes);
  const rowOf = (image: ProcessedImage) => ({ ...imageRow(pictured, image), ...beside });
  const sample = sampler((picture) => rowOf(pictures.process(picture)));
  const bytesOf = runBytesOf(request);
  const usualBytes = () => bytesOf(pictures.process(samplePicture(7)));
  const encoder = await createTensorEncoder(pool, { sample, usualBytes, memory: request.memory });
  return {
    config,
    processor: pictures.processor,
    processing: pictures.config,
    async run(bytes, signal, others = {}) {
      const { values, ...image } = await pictures.read(bytes, signal);
      requirePictureRoom(image, bytesOf, encoder.largestRun);
      const row = { ...imageRow(pictured, { values, ...image }), ...others };
      const outputs = await encoder.forward(row, signal, bytesOf(image));
      pictures.hasRun();
      return { outputs, image };
    },
  };
}

/** Bytes of the run of a picture as the network reads it; 0 for patches, whose number is bounded. */
function runBytesOf({ spec }: LoadRequest) {
  const { image = [] } = spec.network ?? {};
  return ({ height, width, patches }: Omit<ProcessedImage, 'values'>): number =>
    patches ? 0 : bytesForGraph(spec, imageRunBytes(image, { height, width }));
}

/** Makes rows of two pictures in turn, each with memory of its own. */
function sampler(rowOf: (picture: Picture) => Tensors): (seed: number) => Tensors {
  const rowsOf = () => [7, 11].map((step) => rowOf(samplePicture(step)));
  let rows: Tensors[] | undefined;
  return (seed) =>
    Object.fromEntries(
      Object.entries((rows ??= rowsOf())[seed % 2]!).map(([name, { type, data, dims }]) => [
        name,
        { type, data: (data as Float32Array).slice(), dims },
      ]),
    );
}
