import { printable } from '../../../runtime/core/printable.js';
import { familyOf } from '../../../runtime/models/registry.js';
import { createWeights } from '../../../runtime/models/writer/weights.js';
import type { StoredTensor, WeightIndex } from '../../../runtime/weights/index.js';
import { Refusal } from '../refusal.js';
import { type LoraSettings, MERGE_REMEDY } from './settings.js';

export interface ToMerge {
  /** Of the adapter, for messages. */
  id: string;
  settings: LoraSettings;
  /** Tensors of the adapter. */
  adapter: WeightIndex;
  /** Tensors of the base model, and its config.json. */
  index: WeightIndex;
  config: Readonly<Record<string, unknown>>;
}

export interface MergedIndex {
  /** The base's, with what is added to its tensors, and with those of the adapter that stand in place of others. */
  index: WeightIndex;
  /** Those that are not the base's any more, by their names. */
  changed: ReadonlyMap<string, StoredTensor>;
  /** Number of matrices that something is added to. */
  merged: number;
}

/** Types that Python's libraries merge on a CPU and that are rounded here as there. */
const MERGED_TYPES = new Set(['F32', 'F16', 'BF16']);

const PART = /^(.+)\.lora_(embedding_)?([AB])(?:\.weight)?$/;

interface Product {
  down?: StoredTensor;
  up?: StoredTensor;
  isTable: boolean;
}

/**
 * What an adapter makes of the tensors of its base, by names and shapes alone.
 * @throws Refusal that names the first tensor that does not fit
 */
export function mergeIndex({ id, settings, adapter, index, config }: ToMerge): MergedIndex {
  const fail = (what: string) => new Refusal(`${id} is an adapter that ${what}`, MERGE_REMEDY);
  const { products, replaced } = sortTensors(adapter, fail);
  const family = familyOf(String(config.model_type));
  const names = createWeights(index, family);
  const found = new Map(index);
  const changed = new Map<string, StoredTensor>();
  const put = (name: string, tensor: StoredTensor) => {
    const [rows] = tensor.shape;
    if (rows === config.vocab_size && tensor.shape.length === 2 && config.tie_word_embeddings !== false)
      throw fail(`changes ${name}, which is tied to another tensor in ${settings.base}`);
    changed.set(name, tensor);
    found.set(name, tensor);
  };
  for (const [given, tensor] of replaced) {
    const name = names.nameOf(given) ?? given;
    const before = index.get(name);
    if (before && String(before.shape) !== String(tensor.shape))
      throw fail(`makes ${name} [${tensor.shape.join(', ')}], which has [${before.shape.join(', ')}]`);
    put(name, tensor);
  }
  for (const [module, product] of products) {
    const name = names.nameOf(`${module}.weight`);
    const tensor = name === undefined ? undefined : found.get(name);
    if (name === undefined || !tensor)
      throw fail(`changes ${printable(module)}.weight, which ${settings.base} lacks`);
    if (!MERGED_TYPES.has(tensor.type)) throw fail(`changes ${name}, which is stored as ${tensor.type}`);
    const turned = family?.conv1d === true;
    const merge = mergeOf({ module, product, tensor, settings, turned });
    if (!merge) throw fail(`has matrices for ${name} [${tensor.shape.join(', ')}] that do not fit it`);
    put(name, { ...tensor, merge });
  }
  if (changed.size === 0) throw fail('changes nothing');
  return { index: found, changed, merged: products.size };
}

/** Names as in Python's model, without what peft puts around it. */
function sortTensors(adapter: WeightIndex, fail: (what: string) => Refusal) {
  const products = new Map<string, Product>();
  const replaced = new Map<string, StoredTensor>();
  for (const [key, tensor] of adapter) {
    const name = /^base_model\.model\.(.+)$/.exec(key)?.[1];
    if (name === undefined) throw fail(`has a tensor ${printable(key)}, which is none of LoRA's`);
    const [, module, table, side] = PART.exec(name) ?? [];
    if (module === undefined) {
      if (/\.lora_/.test(name)) throw fail(`has a tensor ${printable(key)}, which is not merged here`);
      replaced.set(name.replace(/\.(?:base_layer|modules_to_save(?:\.default)?)(?=\.\w+$)/, ''), tensor);
      continue;
    }
    const isTable = table !== undefined;
    const product = products.get(module) ?? { isTable };
    products.set(module, { ...product, [side === 'A' ? 'down' : 'up']: tensor });
  }
  return { products, replaced };
}

interface Module {
  module: string;
  product: Product;
  /** The base's matrix. */
  tensor: StoredTensor;
  settings: LoraSettings;
  /** Square matrices are [inputs, outputs]; those of others tell it by their shape. */
  turned: boolean;
}

/** Undefined where shapes or types do not fit. Tables of tokens are as turned matrices: a row for each input. */
function mergeOf({ module, product, tensor, settings, turned }: Module): StoredTensor['merge'] {
  const { down, up, isTable } = product;
  if (!down || !up || [down, up, tensor].some(({ shape }) => shape.length !== 2)) return undefined;
  if (![down, up].every(({ type }) => MERGED_TYPES.has(type))) return undefined;
  const [rank, inputs] = down.shape;
  const [outputs, other] = up.shape;
  if (rank !== other || rank !== settings.rankOf(module)) return undefined;
  const [rows, columns] = tensor.shape;
  const straight = rows === outputs && columns === inputs;
  const across = rows === inputs && columns === outputs;
  const transposed = isTable || (across && (turned || !straight));
  if (transposed ? !across : !straight) return undefined;
  return { down, up, scale: settings.scaleOf(module), transposed };
}
