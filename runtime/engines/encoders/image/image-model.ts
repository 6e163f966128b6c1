import { join } from 'node:path';
import { RunError } from '../../../core/errors.js';
import type { LoadRequest } from '../../../core/load-request.js';
import type { Picture } from '../../../media/picture.js';
import { createPictureLine } from '../../../media/picture-line.js';
import { createImageProcessor, type ImageProcessor } from '../../processors/image/image-processor.js';
import { readProcessorConfig } from '../../processors/image/processor-config.js';
import { type Json, readJson } from '../../repository/model-folder.js';
import { type Lanes, openLanes } from '../../sessions/lanes.js';
import type { Tensors } from '../../sessions/tensors.js';
import { createTensorEncoder } from '../tensor-encoder.js';

export interface ImageModel {
  /** config.json */
  config: Json;
  /**
   * Decodes a picture as memory allows, makes of it what the graph takes, and runs it. Goes no step further once `signal`
   * aborts.
   * @throws RunError 413 too many pixels, 422 broken picture; the signal's reason
   */
  run(bytes: Uint8Array, signal: AbortSignal): Promise<Tensors>;
}

/**
 * Opens what every head over an encoder that reads one picture needs; the graph is `model`: pixel_values [1, 3, h, w].
 * @param needed outputs that the head reads
 */
export async function openImageModel(request: LoadRequest, ...needed: string[]): Promise<ImageModel> {
  const [config, opened] = await Promise.all([
    readJson(request.dir, 'config.json'),
    openLanes(request, join(request.dir, request.spec.graphs['model']!)),
  ]);
  checkPorts(opened, needed);
  const { process } = createImageProcessor(await readProcessorConfig(request.dir, config));
  const encoder = await createTensorEncoder(opened, { sample: sampler(process), memory: request.memory });
  const pictures = createPictureLine({ ...request, room: () => encoder.room });
  return {
    config,
    async run(bytes, signal) {
      const row = await pictures.read(bytes, (picture) => rowOf(process(picture)), signal);
      const outputs = await encoder.forward(row, signal);
      pictures.hasRun();
      return outputs;
    },
  };
}

type Processed = ReturnType<ImageProcessor['process']>;

const rowOf = ({ values, height, width }: Processed): Tensors => ({
  pixel_values: { type: 'float32', data: values, dims: [1, 3, height, width] },
});

/** @throws RunError `not_ready` for a graph that wants more than a picture, or lacks one of these outputs */
function checkPorts({ inputs, outputs }: Lanes, needed: readonly string[]): void {
  const [takes, gives] = [inputs, outputs].map((ports) => ports.map(({ name }) => name)) as [
    string[],
    string[],
  ];
  if (takes.join() === 'pixel_values' && needed.every((name) => gives.includes(name))) return;
  throw new RunError(
    'not_ready',
    `the graph takes ${takes.join(', ')} and gives ${gives.join(', ')}; it should take pixel_values and give ` +
      needed.join(' and '),
  );
}

/** A picture of usual proportions. */
const [WIDTH, HEIGHT] = [320, 240];

/** Makes rows of different pictures, each with memory of its own. */
function sampler(process: ImageProcessor['process']): (seed: number) => Tensors {
  const processed = [7, 11].map((step) => process(pattern(step)));
  return (seed) => {
    const { values, ...size } = processed[seed % processed.length]!;
    return rowOf({ values: values.slice(), ...size });
  };
}

function pattern(step: number): Picture {
  const data = Uint8Array.from({ length: WIDTH * HEIGHT * 3 }, (_, i) => (i * step + i / WIDTH) & 255);
  return { data, width: WIDTH, height: HEIGHT, channels: 3 };
}
