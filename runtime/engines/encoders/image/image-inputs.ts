import { RunError } from '../../../core/errors.js';
import type { ProcessedImage } from '../../processors/image/image-processor.js';
import {
  NARROW_TYPES,
  paddingMask,
  type Port,
  type TensorLike,
  type Tensors,
} from '../../sessions/tensors.js';

/** Inputs that an image alone can give. */
const INPUTS: Record<string, (image: ProcessedImage, port: Port) => TensorLike> = {
  pixel_values: ({ values, height, width, patches }) => ({
    type: 'float32',
    data: values,
    dims: patches ? [1, height, width] : [1, 3, height, width],
  }),
  pixel_mask: maskOf,
  // Patches that fill up are 0.
  pixel_attention_mask: ({ height, patches = [0, 0] }, { type }) =>
    paddingMask(type, height, patches[0] * patches[1]),
  spatial_shapes: ({ patches = [0, 0] }) => ({
    type: 'int64',
    data: BigInt64Array.from(patches, BigInt),
    dims: [1, 2],
  }),
};

/** 1 where the image is, 0 where it was padded: [1, height, width], in the type that the graph declares. */
function maskOf({ height, width, content }: ProcessedImage, { type }: Port): TensorLike {
  const Narrow = NARROW_TYPES[type as keyof typeof NARROW_TYPES] as Int32ArrayConstructor | undefined;
  const data = Narrow ? new Narrow(height * width) : new BigInt64Array(height * width);
  for (let y = 0; y < content.height; y++) {
    const [from, to] = [y * width, y * width + content.width];
    if (data instanceof BigInt64Array) data.fill(1n, from, to);
    else data.fill(1, from, to);
  }
  return { type: Narrow ? type : 'int64', data, dims: [1, height, width] };
}

/** What a graph's input is in Python's names: exporters of networks that are not in transformers name the only one freely. */
const inputName = ({ name }: Port, inputs: readonly Port[]): string =>
  inputs.length === 1 && inputs[0]!.shape.length === 4 ? 'pixel_values' : name;

/** @throws RunError `not_ready` for a graph that wants more than an image */
export function checkImageInputs(inputs: readonly Port[]): void {
  const names = inputs.map((port) => inputName(port, inputs));
  const unknown = names.filter((name) => !(name in INPUTS));
  if (unknown.length === 0 && names.includes('pixel_values')) return;
  throw new RunError(
    'not_ready',
    unknown.length > 0
      ? `the graph wants inputs that an image can't give: ${unknown.join(', ')}`
      : 'the graph takes no pixel_values',
  );
}

/** A row for a graph: every input has memory of its own. */
export function imageRow(inputs: readonly Port[], image: ProcessedImage): Tensors {
  return Object.fromEntries(inputs.map((port) => [port.name, INPUTS[inputName(port, inputs)]!(image, port)]));
}

/** True for what an image gives. */
export const isImageInput = (name: string): boolean => Object.hasOwn(INPUTS, name);
