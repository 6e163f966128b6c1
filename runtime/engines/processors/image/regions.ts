import type { Picture } from '../../../media/picture.js';
import type { Edges } from './sizes.js';

/** A part of a picture, or where a picture lies: its edges, and the place of its first pixel. */
export interface Region extends Edges {
  top: number;
  left: number;
}

/** A part of a picture, which lies inside of it: the picture itself where that is all of it. */
export function cutOut(picture: Picture, region: Region): Picture {
  const { data, height, width, channels } = picture;
  if (region.height === height && region.width === width) return picture;
  const line = region.width * channels;
  const part = new Uint8Array(region.height * line);
  for (let y = 0; y < region.height; y++) {
    const from = ((region.top + y) * width + region.left) * channels;
    part.set(data.subarray(from, from + line), y * line);
  }
  return { data: part, height: region.height, width: region.width, channels };
}

interface Canvas extends Region {
  /** Levels of what the picture does not cover. */
  colour: readonly number[];
}

export const BLACK = [0, 0, 0];

/** A picture on a larger one of a colour; `top` and `left` are where its first pixel lies. */
export function placedOn(picture: Picture, { height, width, top, left, colour }: Canvas): Picture {
  const { channels, data } = picture;
  const all = new Uint8Array(height * width * channels);
  if (colour.some((level) => level !== 0))
    for (let i = 0; i < all.length; i++) all[i] = colour[i % channels]!;
  const row = picture.width * channels;
  for (let y = 0; y < picture.height; y++)
    all.set(data.subarray(y * row, (y + 1) * row), ((top + y) * width + left) * channels);
  return { data: all, height, width, channels };
}

/** A picture in the middle of a larger one, nearer to its beginning by a pixel where there is no middle. */
export function centredOn(
  picture: Picture,
  { height, width }: Edges,
  colour: readonly number[] = BLACK,
): Picture {
  const top = Math.floor((height - picture.height) / 2);
  const left = Math.floor((width - picture.width) / 2);
  return placedOn(picture, { height, width, top, left, colour });
}
