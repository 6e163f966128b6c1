import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ort from 'onnxruntime-node';
import type { InferenceSession } from 'onnxruntime-node';
import { buildPackedFile } from '../../builder/pack/build-packed-file.js';
import { requireRead, UnreadFieldsError } from '../../builder/plan/config/require-read.js';
import { quantizedIndex } from '../../builder/plan/quantized-index.js';
import type { Head } from '../../runtime/core/handles/index.js';
import { normalizeConfig } from '../../runtime/hub-config/normalize.js';
import { parsePythonJson } from '../../runtime/core/python-json.js';
import { openSession } from '../../runtime/engines/sessions/session.js';
import { GraphError } from '../../runtime/models/writer/errors.js';
import { packedStorage } from '../../runtime/models/writer/storage.js';
import { writeGraphs } from '../../runtime/models/write-graphs.js';
import { folderSource } from '../../runtime/store/folder.js';
import { rangesOf } from '../../runtime/store/source.js';
import { readWeightIndex } from '../../runtime/weights/index.js';
import { drawn, graphModel, graphModels, type Recipe } from '../fakes/drawn-weights.js';

/** Floats of a reference: in base64, or what draws them. */
interface Floats {
  dims: number[];
  data?: string;
  drawn?: Recipe;
  /** Of an output, whose first number is kept and each so many places behind it; all if absent. */
  every?: number;
}

interface RunCase {
  /** Of the graph; the first one if absent. */
  role?: string;
  /** Integers, or floats, by the names of inputs. */
  inputs: Record<string, Nested | Floats>;
  outputs: Record<string, Floats>;
}

interface TextCase {
  /** For a model with an encoder: what it reads. */
  source?: number[] | Floats;
  tokens: number[];
  /** Tokens that are fed at once; the others follow one by one. */
  prompt: number;
  /** After each token from the prompt's last one on. */
  logits: Floats;
}

type Nested = number | Nested[];

/** Of the largest number of an output. */
const TOLERANCE = 2e-5;

/** A folder of random configurations (scripts/fixtures/random_configs.py), which are compared in place of the fixtures. */
const RANDOM = process.env['RANDOM_CONFIGS'];
const MODELS = RANDOM === undefined ? graphModels() : readdirSync(RANDOM).sort();
const folderOf = (name: string): string => (RANDOM === undefined ? graphModel(name) : join(RANDOM, name));

interface Written {
  graphs: Record<string, Uint8Array>;
  /** Folder of their weights. */
  weightsIn: string;
}

const configOf = async (dir: string) =>
  normalizeConfig(parsePythonJson(await readFile(join(dir, 'config.json'), 'utf8')));

/** A random configuration may be refused by name, as a plan would: undefined then. */
async function writeUnlessRefused(dir: string, head: Head): Promise<Written | undefined> {
  try {
    requireRead('config.json', await configOf(dir));
    return await writeModel(dir, head);
  } catch (error) {
    if (error instanceof UnreadFieldsError || error instanceof GraphError) return undefined;
    throw error;
  }
}

/** Over the checkpoint, or over the file that its packed matrices are turned into. */
async function writeModel(dir: string, head: Head): Promise<Written> {
  const source = folderSource(dir);
  const info = await source.info('graph/model');
  const index = await readWeightIndex(rangesOf(source, info));
  const config = await configOf(dir);
  const packed = quantizedIndex(index, config);
  if (!packed) return { graphs: writeGraphs({ config, index, head }).graphs, weightsIn: dir };
  const storage = packedStorage('made.bin', undefined);
  const { graphs } = writeGraphs({ config, index: packed.index, head, storage });
  const weightsIn = await mkdtemp(join(tmpdir(), 'packed-'));
  await buildPackedFile(join(weightsIn, 'made.bin'), { from: dir, recipe: storage.recipe() });
  return { graphs, weightsIn };
}

const open = (bytes: Uint8Array, weightsIn: string): Promise<InferenceSession> =>
  openSession({ bytes, weightsIn }, { device: 'cpu', threads: 1 });

const sizeOf = ({ dims }: Floats): number => dims.reduce((a, b) => a * b, 1);

/** Those that are kept. */
function floatsOf(floats: Floats): Float32Array {
  if (floats.drawn) return drawn(floats.drawn, sizeOf(floats));
  return new Float32Array(Uint8Array.from(Buffer.from(floats.data!, 'base64')).buffer);
}

function shapeOf(value: Nested): number[] {
  return Array.isArray(value) ? [value.length, ...shapeOf(value[0]!)] : [];
}

const flatten = (value: Nested): number[] => (Array.isArray(value) ? value.flatMap(flatten) : [value]);

function tensorOf(value: Nested | Floats): ort.Tensor {
  if (typeof value === 'object' && 'dims' in value)
    return new ort.Tensor('float32', floatsOf(value), value.dims);
  const flat = flatten(value);
  return new ort.Tensor('int64', BigInt64Array.from(flat, BigInt), shapeOf(value));
}

/** What is kept of an output. */
function keptOf(values: Float32Array, wanted: Floats): Float32Array {
  expect(values).toHaveLength(sizeOf(wanted));
  const { every } = wanted;
  return every ? values.filter((_, i) => i % every === 0) : values;
}

/** Largest difference, as a part of the largest number. */
function difference(found: Float32Array, wanted: Float32Array): number {
  expect(found).toHaveLength(wanted.length);
  const most = wanted.reduce((max, value) => Math.max(max, Math.abs(value)), 1e-9);
  return wanted.reduce((max, value, i) => Math.max(max, Math.abs(value - found[i]!)), 0) / most;
}

/** Zeroes what padding gives, which nobody reads. */
function withoutPadding({ data, dims }: ort.Tensor, mask: Nested | Floats | undefined): Float32Array {
  const values = Float32Array.from(data as Float32Array);
  if (!Array.isArray(mask) || dims[1] !== shapeOf(mask)[1]) return values;
  const seen = flatten(mask);
  const width = values.length / seen.length;
  seen.forEach((one, i) => one === 0 && values.fill(0, i * width, (i + 1) * width));
  return values;
}

async function compareRun(session: InferenceSession, { inputs, outputs }: RunCase): Promise<void> {
  const feeds = Object.fromEntries(session.inputNames.map((name) => [name, tensorOf(inputs[name]!)]));
  const found = await session.run(feeds);
  for (const [name, wanted] of Object.entries(outputs)) {
    expect(found[name]!.dims).toEqual(wanted.dims);
    const values = withoutPadding(found[name]!, inputs['attention_mask']);
    expect(difference(keptOf(values, wanted), floatsOf(wanted))).toBeLessThan(TOLERANCE);
  }
}

/** Places that no state of the source stands at. */
const FREE_STATES = 3;

/** What a decoder reads of its source in each run, as the engine feeds it: keys and values, and the places behind them. */
async function readSource(
  graphs: Record<string, InferenceSession>,
  source: NonNullable<TextCase['source']>,
): Promise<Record<string, ort.Tensor>> {
  const encoder = graphs['encoder_model']!;
  const encoded = await encoder.run(
    Array.isArray(source)
      ? { input_ids: tensorOf([source]), attention_mask: tensorOf([source.map(() => 1)]) }
      : { [encoder.inputNames[0]!]: tensorOf(source) },
  );
  const states = encoded['last_hidden_state']!;
  const keysValues = await graphs['cross_key_values']!.run({ encoder_hidden_states: states });
  const seen = Array.from({ length: states.dims[1]! + FREE_STATES }, (_, i) => (i < states.dims[1]! ? 1 : 0));
  const caches = Object.entries(keysValues).map(
    ([name, tensor]) => [name.replace('present', 'past_key_values'), withFreePlaces(tensor)] as const,
  );
  const asked: Record<string, ort.Tensor> = graphs['decoder_model_merged']!.inputNames.includes(
    'attention_heads',
  )
    ? { attention_heads: new ort.Tensor('bool', new Uint8Array(0), [0]) }
    : {};
  return { encoder_attention_mask: tensorOf([seen]), ...asked, ...Object.fromEntries(caches) };
}

/** [1, heads, length, width] with places behind the last one, which hold what nobody may see. */
function withFreePlaces({ data, dims }: ort.Tensor): ort.Tensor {
  const [rows, heads, length, width] = dims as [number, number, number, number];
  const places = length + FREE_STATES;
  const to = new Float32Array(heads * places * width).fill(9);
  for (let head = 0; head < heads; head++) {
    const values = (data as Float32Array).subarray(head * length * width, (head + 1) * length * width);
    to.set(values, head * places * width);
  }
  return new ort.Tensor('float32', to, [rows, heads, places, width]);
}

/** States of fixed size that a layer keeps, zeros at first. */
function emptyStates(session: InferenceSession): Record<string, ort.Tensor> {
  const tensors = session.inputMetadata.flatMap((entry) => {
    if (!/^past_(?!key_values)/.test(entry.name) || !entry.isTensor) return [];
    const dims = [1, ...entry.shape.slice(1).map(Number)];
    const data = new Float32Array(dims.reduce((a, b) => a * b, 1));
    return [[entry.name, new ort.Tensor('float32', data, dims)] as const];
  });
  return Object.fromEntries(tensors);
}

/** What is fed in each run: the prompt, in two parts where the second one needs what the first one left in a state. */
function partsOf(tokens: readonly number[], prompt: number, inTwo: boolean): number[][] {
  const ends = [...(inTwo ? [2] : []), ...tokens.map((_, i) => i + 1).filter((end) => end >= prompt)];
  return ends.map((end, i) => tokens.slice(i === 0 ? 0 : ends[i - 1], end));
}

/**
 * Feeds a text as the engine does: the prompt, then token by token, after a cache with places that are not used.
 * @param source what is fed in each run
 */
async function compareText(
  session: InferenceSession,
  { tokens, prompt, logits }: TextCase,
  source: Record<string, ort.Tensor> = {},
): Promise<void> {
  const wanted = floatsOf(logits);
  const width = logits.dims[1]!;
  const names = session.inputNames.filter((name) => name.startsWith('past_key_values.') && !(name in source));
  const cache = new Map<string, { entries: Float32Array[]; heads: number; width: number }>();
  for (const entry of session.inputMetadata) {
    if (!names.includes(entry.name) || !entry.isTensor) continue;
    cache.set(entry.name, { entries: [], heads: Number(entry.shape[1]), width: Number(entry.shape[3]) });
  }
  let states = emptyStates(session);
  const parts = partsOf(tokens, prompt, Object.keys(states).length > 0);
  for (let from = 0, part = 0; part < parts.length; from += parts[part++]!.length) {
    const fed = parts[part]!;
    // Two free places in the cache, behind the tokens of the past.
    const room = from === 0 ? 0 : 2;
    const mask = [...tokens.slice(0, from).map(() => 1), ...Array<number>(room).fill(0), ...fed.map(() => 1)];
    const feeds: Record<string, ort.Tensor> = {
      input_ids: tensorOf([fed]),
      attention_mask: tensorOf([mask]),
      position_ids: tensorOf([fed.map((_, i) => from + i)]),
      ...{ ...source, ...states },
    };
    for (const [name, { entries, heads, width: size }] of cache) {
      const data = new Float32Array(heads * (from + room) * size);
      entries.forEach((values, token) => {
        for (let head = 0; head < heads; head++)
          data.set(values.subarray(head * size, (head + 1) * size), (head * (from + room) + token) * size);
      });
      feeds[name] = new ort.Tensor('float32', data, [1, heads, from + room, size]);
    }
    const wantedNames = session.inputNames.filter((name) => name in feeds);
    const found = await session.run(Object.fromEntries(wantedNames.map((name) => [name, feeds[name]!])));
    for (const [name, { entries, heads, width: size }] of cache) {
      const fresh = found[name.replace('past_key_values', 'present')]!.data as Float32Array;
      for (let token = 0; token < fed.length; token++) {
        const values = new Float32Array(heads * size);
        for (let head = 0; head < heads; head++) {
          const start = (head * fed.length + token) * size;
          values.set(fresh.subarray(start, start + size), head * size);
        }
        entries.push(values);
      }
    }
    states = Object.fromEntries(
      Object.keys(states).map((name) => [name, found[name.replace('past', 'present')]!]),
    );
    const row = from + fed.length - prompt;
    if (row < 0) continue;
    const scores = wanted.subarray(row * width, (row + 1) * width);
    expect(difference(found['logits']!.data as Float32Array, scores)).toBeLessThan(TOLERANCE);
  }
}

test.each(MODELS)('the graph of %s computes what Python does', async (name) => {
  const dir = folderOf(name);
  const { head, cases } = JSON.parse(await readFile(join(dir, 'cases.json'), 'utf8')) as {
    head: Head;
    cases: (RunCase | TextCase)[];
  };
  const written = await (RANDOM === undefined ? writeModel : writeUnlessRefused)(dir, head);
  if (!written) return;
  const { graphs, weightsIn } = written;
  const opened = await Promise.all(
    Object.entries(graphs).map(async ([role, bytes]) => [role, await open(bytes, weightsIn)] as const),
  );
  const sessions = Object.fromEntries(opened);
  for (const one of cases) {
    if (!('tokens' in one)) await compareRun(one.role ? sessions[one.role]! : opened[0]![1], one);
    else if (one.source)
      await compareText(sessions['decoder_model_merged']!, one, await readSource(sessions, one.source));
    else await compareText(sessions['model']!, one);
  }
  for (const [, session] of opened) await session.release();
  if (weightsIn !== dir) await rm(weightsIn, { recursive: true });
});
