import type { Steps } from '../../../core/steps.js';
import type { Picture } from '../../../media/picture.js';
import { plainResize, type ResizeSettings } from './geometry.js';
import { resizeSteps } from './pillow-resize.js';
import type { Edges } from './sizes.js';

export interface DonutSettings extends ResizeSettings {
  do_thumbnail: boolean;
  do_align_long_axis: boolean;
}

/** Donut: turned to lie as the target does, shortest edge to the target's, then made smaller until it fits. */
export function* donutResize(given: Picture, settings: DonutSettings): Steps<Picture> {
  const { size } = settings;
  if (!('height' in size)) return yield* plainResize(given, settings);
  const picture = settings.do_align_long_axis ? aligned(given, size) : given;
  const shortest = Math.min(size.height, size.width);
  const resized = yield* plainResize(picture, { ...settings, size: { shortest_edge: shortest } });
  return settings.do_thumbnail ? yield* thumbnail(resized, size) : resized;
}

const BICUBIC = 3;

/** Bicubic whatever the settings say. */
function* thumbnail(picture: Picture, size: Edges): Steps<Picture> {
  let [height, width] = [Math.min(picture.height, size.height), Math.min(picture.width, size.width)];
  if (height === picture.height && width === picture.width) return picture;
  if (picture.height > picture.width) width = Math.trunc((picture.width * height) / picture.height);
  else if (picture.width > picture.height) height = Math.trunc((picture.height * width) / picture.width);
  return yield* resizeSteps(picture, Math.max(1, width), Math.max(1, height), BICUBIC);
}

/** A quarter turn clockwise where one is wide and the other tall. */
function aligned(picture: Picture, size: Edges): Picture {
  const turns =
    (size.width < size.height && picture.width > picture.height) ||
    (size.width > size.height && picture.width < picture.height);
  if (!turns) return picture;
  const { width, height, channels, data } = picture;
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
