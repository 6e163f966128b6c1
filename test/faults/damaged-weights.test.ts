import { join } from 'node:path';
import {
  byteLength,
  readWeightIndex,
  type StoredTensor,
  type WeightIndex,
} from '../../runtime/weights/index.js';
import { type Random, randomOf } from './random.js';
import { type Files, FIXTURES, readFiles, safetensors, sourceOf } from '../unit/weights/support.js';

/** Rounds of each kind; a failing one names its seed. */
const ROUNDS = 2000;

/** Texts that are put into headers: what parsers get wrong. */
const TEXTS =
  '{ } [ ] , : " \\ \\u0000 \\ud800 null true -1 -0 0.0 1e9 00 9007199254740993 1e400 "__proto__" "dtype" "shape" "F64" [] {} \xff';
const BYTES = [0, 1, 0x22, 0x28, 0x2e, 0x52, 0x5c, 0x63, 0x71, 0x75, 0x7b, 0x7d, 0x7f, 0x80, 0x81, 0xff];

/** One to three changes between two offsets: bytes changed, dropped, repeated, replaced. */
function mutated(file: Buffer, random: Random, from: number, to: number): Buffer {
  let bytes = file;
  for (let i = random.below(3); i >= 0; i--) {
    const at = from + random.below(to - from);
    const length = 1 + random.below(random.chance(0.8) ? 4 : 60);
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at + length)];
    const kept = bytes.subarray(at, at + length);
    const change = random.below(5);
    if (change === 0)
      bytes = Buffer.concat([before, Buffer.from([random.pick(BYTES)]), bytes.subarray(at + 1)]);
    else if (change === 1) bytes = Buffer.concat([before, after]);
    else if (change === 2) bytes = Buffer.concat([before, kept, kept, after]);
    else if (change === 3)
      bytes = Buffer.concat([before, Buffer.from(random.pick(TEXTS.split(' ')), 'latin1'), after]);
    else
      bytes = Buffer.concat([
        before,
        Buffer.from([bytes[at]! ^ (1 << random.below(8))]),
        bytes.subarray(at + 1),
      ]);
  }
  return bytes;
}

/** The index, or undefined if it was refused; anything else fails the test, and so does a slow answer. */
async function attempt(files: Files, seed: number): Promise<WeightIndex | undefined> {
  const started = performance.now();
  try {
    return await readWeightIndex(sourceOf(files).source);
  } catch (error) {
    if ((error as Error).name !== 'WeightsError') throw new Error(`seed ${seed}`, { cause: error });
    return undefined;
  } finally {
    expect({ seed, slow: performance.now() - started > 2000 }).toEqual({ seed, slow: false });
  }
}

function expectInside(tensor: StoredTensor, file: Buffer, seed: number): void {
  const { offset, length, type, shape } = tensor;
  const inside = offset >= 0 && offset + length <= file.length && length === byteLength(type, shape);
  expect({ seed, tensor, inside }).toEqual({ seed, tensor, inside: true });
}

interface Described {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

/** What JSON.parse finds in a header, in order of offsets. */
function described(file: Buffer): [string, Described][] {
  const end = 8 + Number(file.readBigUInt64LE(0));
  const { __metadata__: _, ...tensors } = JSON.parse(file.toString('utf8', 8, end)) as Record<
    string,
    Described
  >;
  return Object.entries(tensors);
}

describe('safetensors', () => {
  const original = readFiles(join(FIXTURES, 'types'))['model.safetensors']!;
  const dataStart = 8 + Number(original.readBigUInt64LE(0));
  const [header, data] = [original.subarray(8, dataStart), original.subarray(dataStart)];

  async function check(file: Buffer, seed: number): Promise<boolean> {
    const index = await attempt({ 'model.safetensors': file }, seed);
    if (!index) return false;
    const start = 8 + Number(file.readBigUInt64LE(0));
    const parsed = described(file);
    expect({ seed, names: [...index.keys()].sort() }).toEqual({
      seed,
      names: parsed.map(([name]) => name).sort(),
    });
    let covered = 0;
    for (const [name, { dtype, shape, data_offsets: offsets }] of parsed) {
      const tensor = index.get(name)!;
      expectInside(tensor, file, seed);
      expect(tensor).toMatchObject({
        type: dtype,
        shape,
        offset: start + offsets[0],
        length: offsets[1] - offsets[0],
      });
      covered += tensor.length;
    }
    expect({ seed, covered }).toEqual({ seed, covered: file.length - start });
    return true;
  }

  test('a changed header with its right length gives what JSON.parse finds, or a refusal', async () => {
    let read = 0;
    for (let seed = 0; seed < ROUNDS; seed++) {
      const changed = mutated(header, randomOf(seed), 0, header.length);
      if (await check(safetensors(changed, data), seed)) read++;
    }
    expect(read).toBeGreaterThan(10);
    expect(read).toBeLessThan(ROUNDS / 2);
  });

  test('so does a changed file', async () => {
    for (let seed = 0; seed < ROUNDS; seed++) {
      await check(mutated(original, randomOf(seed), 0, dataStart + 20), seed);
    }
  });

  test('so does a file cut off anywhere', async () => {
    for (let length = 0; length < original.length; length++) {
      expect(await attempt({ 'model.safetensors': original.subarray(0, length) }, length)).toBeUndefined();
    }
  });
});

describe('torch', () => {
  const original = readFiles(join(FIXTURES, 'torch-state'))['pytorch_model.bin']!;
  const answer = readWeightIndex(sourceOf({ 'pytorch_model.bin': original }).source);

  /** Where storages lie: no tensor may come from elsewhere. */
  const storages = async () => [...(await answer).values()];

  async function check(file: Buffer, seed: number): Promise<boolean> {
    const index = await attempt({ 'pytorch_model.bin': file }, seed);
    for (const tensor of index?.values() ?? []) expectInside(tensor, file, seed);
    return index !== undefined;
  }

  test('a changed index gives tensors inside of storages, or a refusal', async () => {
    const places = await storages();
    const end = original.indexOf(Buffer.from('PK\x07\x08', 'latin1'));
    let read = 0;
    for (let seed = 0; seed < ROUNDS; seed++) {
      const random = randomOf(seed);
      const changed = Buffer.from(original);
      for (let i = random.below(3); i >= 0; i--) {
        const at = 64 + random.below(end - 64);
        changed[at] = random.chance(0.5) ? random.pick(BYTES) : changed[at]! ^ (1 << random.below(8));
      }
      const index = await attempt({ 'pytorch_model.bin': changed }, seed);
      if (!index) continue;
      read++;
      for (const tensor of index.values()) {
        const { offset, length } = tensor;
        const home = places.some(
          (place) => place.offset <= offset && offset + length <= place.offset + place.length,
        );
        expect({ seed, tensor, home }).toEqual({ seed, tensor, home: true });
      }
    }
    expect(read).toBeGreaterThan(100);
    expect(read).toBeLessThan(ROUNDS);
  });

  test('changed records of the zip archive give the same tensors, or a refusal', async () => {
    const directory = original.indexOf(Buffer.from('PK\x01\x02', 'latin1'));
    const expected = Object.fromEntries(await answer);
    for (let seed = 0; seed < ROUNDS; seed++) {
      const random = randomOf(seed);
      const changed = Buffer.from(original);
      const at = directory + random.below(original.length - directory);
      changed[at] = random.chance(0.5) ? random.pick(BYTES) : changed[at]! ^ (1 << random.below(8));
      const index = await attempt({ 'pytorch_model.bin': changed }, seed);
      if (index) expect({ seed, ...Object.fromEntries(index) }).toEqual({ seed, ...expected });
    }
  });

  test('a file with bytes dropped and repeated anywhere gives tensors inside of it, or a refusal', async () => {
    for (let seed = 0; seed < ROUNDS; seed++) {
      await check(mutated(original, randomOf(seed), 0, original.length), seed);
    }
  });

  test('so does a file cut off anywhere', async () => {
    for (let length = 0; length < original.length; length++) {
      expect(await attempt({ 'pytorch_model.bin': original.subarray(0, length) }, length)).toBeUndefined();
    }
  });
});

test('a changed index of shards gives shards of the repository, or a refusal', async () => {
  const files = readFiles(join(FIXTURES, 'shards'));
  const name = 'model.safetensors.index.json';
  let read = 0;
  for (let seed = 0; seed < ROUNDS; seed++) {
    const changed = mutated(files[name]!, randomOf(seed), 0, files[name]!.length);
    const index = await attempt({ ...files, [name]: changed }, seed);
    if (!index) continue;
    read++;
    for (const tensor of index.values()) expectInside(tensor, files[tensor.file]!, seed);
  }
  expect(read).toBeGreaterThan(10);
});
