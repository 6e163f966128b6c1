import ort from 'onnxruntime-node';
import type { InferenceSession, Tensor } from 'onnxruntime-node';

/** How many inputs a graph is tried with. */
export const PROBES = 4;

const TOKENS = 24;
/** Ids of tokens that every vocabulary has; the first ones are special. */
const [FIRST_TOKEN, VOCABULARY] = [5, 90];
/**
 * Edges of images to try, one after the other: patches of 14 and 16 pixels and windows of 7 fit into the first; blocks of 4 x 4
 * patches of 16 into the second, of 3 x 3 patches of 14 into the third.
 * The last one is for models of small images.
 */
export const EDGES = [224, 512, 384, 64] as const;
/** A grid of patches, for models that take them out of images themselves. */
const GRID = 8;

/** Sizes of axes that a graph leaves open; others are 1. */
const SIZES: Readonly<Record<string, number>> = {
  ...{ tokens: TOKENS, all_tokens: TOKENS, length: TOKENS, letters: TOKENS, frames: 96, samples: 16_000 },
  ...{ patches: GRID * GRID, past: 0, steps: 1, numbers: 6 },
};
/** Of what is not yet an image. */
const LATENT_SIZES: Readonly<Record<string, number>> = { height: 32, width: 32, frames: 4 };

type Axis = number | string;

interface Entry {
  name: string;
  isFloat: boolean;
  axes: readonly Axis[];
}

/** Where there is no text. */
const madeUpToken = (i: number, row: number): number =>
  FIRST_TOKEN + ((31 * i + 17 * row + i * i) % (VOCABULARY - FIRST_TOKEN));

/** From the index along the last axis and the number of the probe. */
type Integer = (at: number, row: number) => number;

/** Integers by names of inputs. */
const INTEGERS: readonly (readonly [RegExp, Integer])[] = [
  [/mask$/, () => 1],
  [/^position_ids$/, (i) => i],
  [/^(?:token_type_ids|token_groups|speaker_id|frame_letters)$/, () => 0],
  [/^input_labels$/, () => 1],
  [/^bbox$/, (i) => 100 * (i + 1)],
  [/^image_grid_thw$/, (i) => [1, GRID, GRID][i]!],
];

/**
 * Made-up inputs of a graph. What an earlier graph of the model has made is taken where this one asks for it.
 * @param ids the first tokens of a text, where there is a tokenizer
 * @returns a text that says which input is not known
 */
export function probeOf(
  session: InferenceSession,
  {
    row,
    edge,
    made,
    ids = [],
  }: {
    row: number;
    edge: number;
    made: Readonly<Record<string, Tensor>>;
    ids?: readonly number[] | undefined;
  },
): Record<string, Tensor> | string {
  const feeds: Record<string, Tensor> = {};
  const entries = session.inputMetadata.flatMap((entry) =>
    entry.isTensor ? { name: entry.name, isFloat: entry.type.startsWith('float'), axes: entry.shape } : [],
  );
  const sizes = new Map([
    ['height', edge],
    ['width', edge],
  ]);
  for (const entry of entries) {
    const source = sourceOf(entry.name, made);
    if (!source || !fits(entry.axes, source.dims)) continue;
    feeds[entry.name] = source;
    entry.axes.forEach((axis, i) => typeof axis === 'string' && sizes.set(axis, source.dims[i]!));
  }
  for (const entry of entries) {
    if (entry.name in feeds) continue;
    const integer = entry.name.endsWith('input_ids')
      ? (at: number) => ids[at] ?? madeUpToken(at, row)
      : INTEGERS.find(([known]) => known.test(entry.name))?.[1];
    const found = madeUp(entry, row, { sizes, integer });
    if (!found) return `reads ${entry.name}, which can't be made up`;
    feeds[entry.name] = found;
  }
  return feeds;
}

/** What an input is called where it is made. */
function sourceOf(name: string, made: Readonly<Record<string, Tensor>>): Tensor | undefined {
  if (name === 'encoder_hidden_states') return made['last_hidden_state'];
  return made[name.replace(/^past_key_values\./, 'present.')];
}

const fits = (axes: readonly Axis[], dims: readonly number[]): boolean =>
  axes.length === dims.length && axes.every((axis, i) => typeof axis === 'string' || axis === dims[i]);

function madeUp(
  { name, isFloat, axes }: Entry,
  row: number,
  { sizes, integer }: { sizes: ReadonlyMap<string, number>; integer: Integer | undefined },
): Tensor | undefined {
  // No head is asked how it looks at the source.
  if (name === 'attention_heads') return new ort.Tensor('bool', new Uint8Array(0), [0]);
  const isLatent = name.endsWith('sample');
  const sizeOf = (axis: Axis): number => {
    if (typeof axis === 'number') return axis;
    return (isLatent ? LATENT_SIZES[axis] : undefined) ?? sizes.get(axis) ?? SIZES[axis] ?? 1;
  };
  const dims = axes.map(sizeOf);
  const count = dims.reduce((a, b) => a * b, 1);
  if (isFloat) return new ort.Tensor('float32', noise(count, row, name === 'timestep' ? 500 : 0), dims);
  if (!integer) return undefined;
  const last = dims.at(-1)!;
  const integers = BigInt64Array.from({ length: count }, (_, i) => BigInt(integer(i % last, row)));
  return new ort.Tensor('int64', integers, dims);
}

/** Numbers around a middle that are the same on every machine, at most 1 from it. */
function noise(count: number, row: number, middle: number): Float32Array {
  let state = row + 1;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return middle + state / 2 ** 31;
  });
}
