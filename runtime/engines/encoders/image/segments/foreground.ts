import type { Image } from '../../../../media/decoded-image.js';
import { bilinearRows, type Plane } from '../../../processors/image/interpolate.js';
import type { Edges } from '../../../processors/image/sizes.js';
import { eachRow } from '../../../../core/each-row.js';
import { sigmoid } from '../../boxes.js';

/** How far outside of 0 to 1 rounding of a probability may lead, also in a quantised graph. */
const SLACK = 0.05;

/**
 * How much of each pixel is foreground, as grey levels of the image's size. Networks that tell a subject from its background
 * (BiRefNet, RMBG, MODNet) give one plane; those whose values lie outside of 0 to 1 are logits. transformers has none of these
 * networks: their own code takes the sigmoid, enlarges bilinearly, and cuts 255 times that to a byte.
 */
export async function foregroundImage(plane: Plane, size: Edges, signal: AbortSignal): Promise<Image> {
  const rows = bilinearRows(await asProbabilities(plane, signal), size);
  const row = new Float32Array(size.width);
  const data = new Uint8Array(size.height * size.width);
  await eachRow(size.height, signal, (y) => {
    rows.row(y, row);
    for (let x = 0; x < size.width; x++)
      data[y * size.width + x] = Math.fround(Math.min(1, Math.max(0, row[x]!)) * 255);
  });
  return { data, ...size, channels: 1 };
}

async function asProbabilities(plane: Plane, signal: AbortSignal): Promise<Plane> {
  const { values, height, width } = plane;
  if (values.every((value) => value >= -SLACK && value <= 1 + SLACK)) return plane;
  const found = new Float32Array(values.length);
  await eachRow(height, signal, (y) => {
    for (let i = y * width; i < (y + 1) * width; i++) found[i] = sigmoid(values[i]!);
  });
  return { values: found, height, width };
}
