/** Answers of the server against those of transformers' pipelines. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import sharp from 'sharp';

/** What numbers may differ by, and the mean of 8-bit levels of images. */
const [ABSOLUTE, RELATIVE, LEVELS] = [1e-4, 1e-4, 1];

/** A value with each {"$file": name} read: as a data URL for a request, as bytes for an answer. */
export function withFiles(value, folder, as) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withFiles(item, folder, as));
  if ('$file' in value) {
    const bytes = readFileSync(path.join(folder, value.$file));
    return as === 'bytes' ? bytes : `data:image/jpeg;base64,${bytes.toString('base64')}`;
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withFiles(item, folder, as)]));
}

/** Where an answer differs from the expected one; keys that Python's does not have are allowed. */
export async function differenceOf(actual, expected, place = '$') {
  if (Buffer.isBuffer(expected)) return imageDifference(actual, expected, place);
  if (typeof expected === 'number' && typeof actual === 'number') {
    const near = Math.abs(actual - expected) <= ABSOLUTE + RELATIVE * Math.abs(expected);
    return near ? undefined : `${place}: ${actual}, Python says ${expected}`;
  }
  if (typeof expected !== 'object' || expected === null)
    return actual === expected ? undefined : `${place}: ${short(actual)}, Python says ${short(expected)}`;
  if (Array.isArray(expected) && (!Array.isArray(actual) || actual.length !== expected.length))
    return `${place}: ${short(actual)}, Python has ${expected.length} items`;
  for (const [key, item] of Object.entries(expected)) {
    const found = await differenceOf(actual?.[key], item, `${place}.${key}`);
    if (found) return found;
  }
  return undefined;
}

const short = (value) => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 80));

async function imageDifference(actual, expected, place) {
  if (typeof actual !== 'string') return `${place}: ${short(actual)}, Python has an image`;
  const bytes = Buffer.from(actual.replace(/^data:[^,]*,/, ''), 'base64');
  const [found, wanted] = await Promise.all(
    [bytes, expected].map((one) => sharp(one).removeAlpha().toColourspace('srgb').raw().toBuffer()),
  );
  if (found.length !== wanted.length) return `${place}: an image of another size`;
  const sum = wanted.reduce((total, level, i) => total + Math.abs(level - found[i]), 0);
  return sum / wanted.length <= LEVELS ? undefined : `${place}: differs by ${sum / wanted.length} levels`;
}
