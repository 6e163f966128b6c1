/** Images like photos, always the same ones: soft light, a few things with edges, and the noise of a sensor. */
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { randomFrom } from './numbers.mjs';

const sharp = createRequire(resolve('package.json'))('sharp');

const COUNT = 16;
const THINGS = 24;
const NOISE = 18;

/** Base64 of JPEGs of a size such as `1000x750`. */
export async function photosOf(kind) {
  const [width, height] = kind.split('x').map(Number);
  const random = randomFrom(41);
  const photos = [];
  for (let i = 0; i < COUNT; i++) {
    const pixels = paint({ width, height }, random);
    const jpeg = await sharp(pixels, { raw: { width, height, channels: 3 } })
      .jpeg({ quality: 85 })
      .toBuffer();
    photos.push(jpeg.toString('base64'));
  }
  return photos;
}

function paint({ width, height }, random) {
  const corners = Array.from({ length: 4 }, () => colour(random));
  const things = Array.from({ length: THINGS }, () => thing({ width, height }, random));
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0, at = 0; y < height; y++) {
    const [v, row] = [y / height, things.filter(({ top, bottom }) => y >= top && y < bottom)];
    for (let x = 0; x < width; x++) {
      const u = x / width;
      const found = row.findLast(({ left, right }) => x >= left && x < right);
      for (let c = 0; c < 3; c++) {
        const [a, b, d, e] = corners.map((corner) => corner[c]);
        const light = a * (1 - u) * (1 - v) + b * u * (1 - v) + d * (1 - u) * v + e * u * v;
        const level = found ? (found.colour[c] + light) / 2 : light;
        pixels[at++] = Math.max(0, Math.min(255, level + (random() - 0.5) * NOISE));
      }
    }
  }
  return pixels;
}

const colour = (random) => Array.from({ length: 3 }, () => random() * 255);

function thing({ width, height }, random) {
  const [left, top] = [random() * width, random() * height];
  const [wide, high] = [(0.05 + random() * 0.3) * width, (0.05 + random() * 0.3) * height];
  return { left, top, right: left + wide, bottom: top + high, colour: colour(random) };
}
