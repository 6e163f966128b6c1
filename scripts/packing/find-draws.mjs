/**
 * Finds weights that torch drew with a seed: the angle of the first numbers of a block, whatever their deviation, gives
 * the words of the generator, and those its place in the stream.
 */
import { normal, uniform, words } from './draws.mjs';
import { turned } from './format.mjs';
import { floatOf, halfOf } from './halves.mjs';

const BLOCK = 16;
const HALF = BLOCK / 2;
/** How far from each other the angle of two numbers, in turns, and the word that gave it may be. */
const NEAR = 4e-6;
/** The same for numbers of 16 bits. */
const NEAR_HALF = 1e-4;
const FEWEST = 64;
/** Differences from what was drawn, in steps of the last bit, must fit a byte. */
const MOST_STEPS = 127;

const bitsOf = (values) => new Int32Array(values.buffer, values.byteOffset, values.length);
const halvesOf = (values) => Int32Array.from(values, halfOf);

/** The words of a seed, and their places in the order of the numbers that they give. */
export function streamOf(seed, count) {
  const stream = words(seed, count);
  const keys = new Float64Array(count);
  for (let i = 0; i < count; i++) keys[i] = (stream[i] & 0xffffff) * 2 ** 24 + i;
  keys.sort();
  return { seed, stream, keys };
}

/** @returns where the numbers begin in the stream, or undefined */
function beginOf({ stream, keys }, values, limit) {
  const turns = [];
  for (let i = 0; i < HALF; i++) {
    const turn = Math.atan2(values[HALF + i], values[i]) / (2 * Math.PI);
    turns.push(turn < 0 ? turn + 1 : turn);
  }
  const least = Math.max(0, turns[0] - limit) * 2 ** 48;
  const most = (turns[0] + limit) * 2 ** 48;
  for (let i = above(keys, least); i < keys.length && keys[i] <= most; i++) {
    const start = (keys[i] % 2 ** 24) - HALF;
    if (start < 0 || start + values.length + BLOCK > stream.length) continue;
    if (turns.every((turn, j) => near(turn, uniform(stream[start + HALF + j]), limit))) return start;
  }
  return undefined;
}

function near(a, b, limit) {
  const apart = Math.abs(a - b);
  return Math.min(apart, 1 - apart) <= limit;
}

function above(keys, least) {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle] < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What lies between numbers and what was drawn, times one deviation; undefined when that is not what they are. */
function differences(values, drawn, bits) {
  let [across, square] = [0, 0];
  drawn.forEach((value, i) => {
    across += value * values[i];
    square += value * value;
  });
  const deviation = Math.fround(across / square);
  const expected = bits(drawn.map((value) => value * deviation));
  const steps = bits(values).map((one, i) => one - expected[i]);
  return steps.every((step) => Math.abs(step) <= MOST_STEPS)
    ? { deviation, steps: Int8Array.from(steps) }
    : undefined;
}

/**
 * @param values numbers of a tensor, float32
 * @returns what draws them, and by how many steps of the last bit each differs; undefined when this seed did not
 */
export function findDraw(source, values, dims) {
  return found(source, values, dims, { limit: NEAR, bits: bitsOf });
}

/** The same of the bits of numbers of 16 bits. @param halves Uint16Array */
export function findHalfDraw(source, halves, dims) {
  const draw = found(source, Float32Array.from(halves, floatOf), dims, { limit: NEAR_HALF, bits: halvesOf });
  return draw && { half: true, ...draw };
}

function found(source, values, dims, { limit, bits }) {
  if (values.length < FEWEST) return undefined;
  const ways = [{ flat: values }];
  // Exporters keep many matrices the other way round.
  if (dims.length === 2) ways.push({ flat: turned(values, ...dims), turn: [dims[1], dims[0]] });
  for (const { flat, turn } of ways) {
    const start = beginOf(source, flat, limit);
    if (start === undefined) continue;
    const told = differences(flat, normal(source.stream, start, flat.length), bits);
    if (told) return { seed: source.seed, start, turn, ...told };
  }
  return undefined;
}
