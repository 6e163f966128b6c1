import type { Steps } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import { plainResize, type ResizeSettings } from './geometry.js';
import { resizeSteps } from './pillow-resize.js';
import { thumbnailSteps } from './thumbnail.js';
import type { Edges } from './sizes.js';

export interface DonutSettings extends ResizeSettings {
  major: number;
  do_thumbnail: boolean;
  do_align_long_axis: boolean;
}

/** Donut: turned to lie as the target does, shortest edge to the target's, then made smaller until it fits. */
export function* donutResize(given: Image, settings: DonutSettings): Steps<Image> {
  const { size } = settings;
  if (!('height' in size)) return yield* plainResize(given, settings);
  const image = settings.do_align_long_axis ? aligned(given, size) : given;
  const shortest = Math.min(size.height, size.width);
  const resized = yield* plainResize(image, { ...settings, size: { shortest_edge: shortest } });
  return settings.do_thumbnail ? yield* thumbnail(resized, { ...settings, size }) : resized;
}

const BICUBIC = 3;

/** Pillow's thumbnail, bicubic whatever the settings say; a plain resize where version 5 wrote them. */
function* thumbnail(
  image: Image,
  { size, major, resample }: { size: Edges; major: number; resample: number },
): Steps<Image> {
  let [height, width] = [Math.min(image.height, size.height), Math.min(image.width, size.width)];
  if (height === image.height && width === image.width) return image;
  if (image.height > image.width) width = Math.trunc((image.width * height) / image.height);
  else if (image.width > image.height) height = Math.trunc((image.height * width) / image.width);
  const to = { width: Math.max(1, width), height: Math.max(1, height) };
  if (major < 5) return yield* thumbnailSteps(image, to, BICUBIC);
  return yield* resizeSteps(image, to.width, to.height, resample);
}

/** A quarter turn clockwise where one is wide and the other tall. */
function aligned(image: Image, size: Edges): Image {
  const turns =
    (size.width < size.height && image.width > image.height) ||
    (size.width > size.height && image.width < image.height);
  if (!turns) return image;
  const { width, height, channels, data } = image;
  const turned = new Uint8Array(data.length);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const to = (x * height + (height - 1 - y)) * channels;
      const from = (y * width + x) * channels;
      for (let c = 0; c < channels; c++) turned[to + c] = data[from + c]!;
    }
  }
  return { data: turned, width: height, height: width, channels };
}
