import type { Fault } from '../fakes/hub.js';
import { type Random, randomOf } from './random.js';

/** What happens to the process that downloads, once the hub has sent `afterBytes` (or `afterMs` have passed). */
export type Event =
  | { kind: 'none' }
  | { kind: 'kill'; afterBytes: number }
  | { kind: 'kill-in-time'; afterMs: number }
  /** A second process starts with the first one; the first one may be killed. */
  | { kind: 'two-writers'; killAfterBytes?: number }
  /** The process is stopped until a second one has taken over and finished, and then goes on. */
  | { kind: 'freeze'; afterBytes: number }
  | { kind: 'disk-full'; afterBytes: number };

/** A byte that changes on disk before a start: in an unfinished part, or in a finished file. */
export type Damage = 'part' | 'file';

export interface Start {
  faults: Fault[];
  event: Event;
  damage?: Damage;
}

export interface Schedule {
  seed: number;
  /** Name of the model, which stands for sizes of files. */
  model: string;
  starts: Start[];
}

/** Sizes in bytes by path. Up to 10 KiB a hub keeps a file in git and gives its blob id, beyond that its sha256. */
export const MODELS: Record<string, Record<string, number>> = {
  tiny: { 'empty.txt': 0, 'one.txt': 1, 'config.json': 700, 'tokenizer.json': 9000 },
  usual: { 'empty.txt': 0, 'config.json': 700, 'tokenizer.json': 60_000, 'onnx/model.onnx': 2_000_000 },
  large: { 'config.json': 700, 'onnx/model.onnx': 300_000, 'onnx/model.onnx_data': 3_000_000 },
  many: Object.fromEntries(Array.from({ length: 14 }, (_, n) => [`shards/${n}.bin`, n * 11_000])),
};

/** Several starts, each with several faults; the same seed gives the same schedule. */
export function scheduleOf(seed: number): Schedule {
  const random = randomOf(seed);
  const model = random.pick(Object.keys(MODELS));
  const starts = Array.from({ length: 1 + random.below(3) }, (_, index) => startOf(random, model, index));
  return { seed, model, starts };
}

function startOf(random: Random, model: string, index: number): Start {
  const paths = Object.keys(MODELS[model]!);
  const faults = Array.from({ length: random.below(4) }, () => faultOf(random, random.pick(paths), model));
  const damage = index > 0 && random.chance(0.25) ? random.pick(['part', 'file'] as const) : undefined;
  return { faults, event: eventOf(random, model), ...(damage && { damage }) };
}

function faultOf(random: Random, path: string, model: string): Fault {
  const within = random.below(MODELS[model]![path]! + 1);
  const status = { path, times: 1 + random.below(3), status: random.pick([429, 500, 503]) };
  return random.pick<Fault>([
    { path, dropAfter: within },
    { path, dropAfter: within, times: 3 },
    { path, endAfter: within },
    { path, stallAfter: within },
    { path, silent: true },
    { ...status, ...(random.chance(0.5) && { retryAfter: '0' }) },
    { path, wrongBytes: true, times: 1 + random.below(3) },
    { path, extraBytes: 1 + random.below(5000) },
    { path, ignoreRange: true },
    { path, shiftBy: random.pick([-100, 100]) },
    { path, gzip: true },
    { path, html: true },
    { path, promise: 10 },
  ]);
}

function eventOf(random: Random, model: string): Event {
  const total = Object.values(MODELS[model]!).reduce((sum, size) => sum + size, 0);
  const afterBytes = random.below(total);
  return random.pick<Event>([
    { kind: 'none' },
    { kind: 'kill', afterBytes },
    { kind: 'kill', afterBytes },
    { kind: 'kill-in-time', afterMs: random.below(80) },
    { kind: 'two-writers', ...(random.chance(0.5) && { killAfterBytes: afterBytes }) },
    { kind: 'freeze', afterBytes },
    { kind: 'disk-full', afterBytes: random.chance(0.3) ? 0 : afterBytes },
  ]);
}
