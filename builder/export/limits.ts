import { type WeightIndex } from '../../runtime/weights/index.js';
import { Refusal } from '../plan/refusal.js';

type Json = Readonly<Record<string, unknown>>;

/** Names of numbers of layers, and of sizes that some tensor has. */
const LAYERS = /(?:^|_)(?:n|num)_(?:\w+_)?(?:layers?|blocks?|stages?)$|(?:^|_)(?:layers|depths?|n_layer)$/;
const SIZES =
  /(?:^|_)(?:hidden_sizes?|vocab_size|intermediate_size|d_model|d_ff|d_inner|n_embd|emb_dim|embed_dims?|embedding_size|ffn_dim|dim|num_labels)$/;
/** Any network may have so many layers, which may share their weights, and such sizes. */
const [FREE_LAYERS, FREE_SIZE] = [64, 8192];
const MOST_DEPTH = 8;
/** Fields that nothing is built of: an encoder of vectors has no table of words. */
const UNBUILT: ReadonlySet<string> = new Set(['vision_config.encoder_config.vocab_size']);

/**
 * What a configuration says is built before the first weight is read: it may ask for no more layers, and no larger ones, than
 * the checkpoint's headers have.
 * @throws Refusal that names the field
 */
export function requireBounded(id: string, config: Json, index: WeightIndex): void {
  const layers = Math.max(FREE_LAYERS, layersOf(index));
  const size = Math.max(FREE_SIZE, largestSize(index));
  for (const [name, value] of numbersIn(config)) {
    const limit = LAYERS.test(lastOf(name)) ? layers : SIZES.test(lastOf(name)) ? size : Infinity;
    if (value <= limit || UNBUILT.has(name)) continue;
    throw new Refusal(
      `config.json of ${id}: ${name} is ${value}, where the tensors of the checkpoint allow ${limit}`,
      'take a repository whose config.json belongs to its weights',
    );
  }
}

const lastOf = (name: string): string => name.split('.').at(-1)!;

/** Numbers of a configuration by their paths; the sum of a list. */
function* numbersIn(value: Json, path = '', depth = 0): Generator<[string, number]> {
  if (depth > MOST_DEPTH) return;
  for (const [key, entry] of Object.entries(value)) {
    const name = path ? `${path}.${key}` : key;
    if (typeof entry === 'number') yield [name, entry];
    else if (isNumbers(entry))
      yield [name, LAYERS.test(key) ? entry.reduce((a, b) => a + b, 0) : Math.max(...entry)];
    else if (typeof entry === 'object' && entry !== null && !Array.isArray(entry))
      yield* numbersIn(entry as Json, name, depth + 1);
  }
}

const isNumbers = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'number');

/** Layers that a checkpoint has at most: parts with a number in the names of their tensors, as `encoder.layer.3`. */
export function layersOf(index: WeightIndex): number {
  const parts = new Set<string>();
  for (const name of index.keys()) {
    const words = name.split('.');
    words.forEach((word, i) => /^\d+$/.test(word) && parts.add(words.slice(0, i + 1).join('.')));
  }
  return parts.size;
}

function largestSize(index: WeightIndex): number {
  let largest = 0;
  for (const { shape } of index.values()) for (const size of shape) largest = Math.max(largest, size);
  return largest;
}
