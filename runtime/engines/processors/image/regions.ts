import type { Image } from '../../../media/decoded-image.js';
import type { Edges } from './sizes.js';

/** A part of an image, or where an image lies: its edges, and the place of its first pixel. */
export interface Region extends Edges {
  top: number;
  left: number;
}

/** A part of an image, which lies inside of it: the image itself where that is all of it. */
export function cutOut(image: Image, region: Region): Image {
  const { data, height, width, channels } = image;
  if (region.height === height && region.width === width) return image;
  const line = region.width * channels;
  const part = new Uint8Array(region.height * line);
  for (let y = 0; y < region.height; y++) {
    const from = ((region.top + y) * width + region.left) * channels;
    part.set(data.subarray(from, from + line), y * line);
  }
  return { data: part, height: region.height, width: region.width, channels };
}

interface Canvas extends Region {
  /** Levels of what the image does not cover. */
  colour: readonly number[];
}

export const BLACK = [0, 0, 0];

/** An image on a larger one of a colour; `top` and `left` are where its first pixel lies. */
export function placedOn(image: Image, { height, width, top, left, colour }: Canvas): Image {
  const { channels, data } = image;
  const all = new Uint8Array(height * width * channels);
  if (colour.some((level) => level !== 0))
    for (let i = 0; i < all.length; i++) all[i] = colour[i % channels]!;
  const row = image.width * channels;
  for (let y = 0; y < image.height; y++)
    all.set(data.subarray(y * row, (y + 1) * row), ((top + y) * width + left) * channels);
  return { data: all, height, width, channels };
}

/** An image in the middle of a larger one, nearer to its beginning by a pixel where there is no middle. */
export function centredOn(image: Image, { height, width }: Edges, colour: readonly number[] = BLACK): Image {
  const top = Math.floor((height - image.height) / 2);
  const left = Math.floor((width - image.width) / 2);
  return placedOn(image, { height, width, top, left, colour });
}
