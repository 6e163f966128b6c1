import { printable } from '../../../runtime/core/printable.js';
import { blockForm, type GgufTensor } from '../../../runtime/gguf/index.js';
import type { StoredTensor, WeightIndex } from '../../../runtime/weights/index.js';
import type { GgufArchitecture } from './architecture.js';
import { type GgufFacts, LLAMA_REMEDY } from './facts.js';

/** What is in config.json already. */
const IN_CONFIG = /^(?:rope_freqs|rope_factors_long|rope_factors_short)\.weight$/;
/** Types that stand in safetensors by the same names. */
const FLOATS = new Set(['F32', 'F16', 'BF16']);

/** What an architecture says of its tensors. */
export type TensorNames = Pick<GgufArchitecture, 'names' | 'layers' | 'inLayer' | 'change'>;

const LAYER = /^(?:[va]\.)?blk\.(\d+)\.(.+)\.(weight|bias)$/;
const OTHER = /^(.+)\.(weight|bias)$/;

/**
 * The tensors of a model by the names that transformers has for them.
 * @throws WeightsError for one that the architecture does not have, and for types without an exact form
 */
export function ggufWeightIndex(facts: GgufFacts, architecture: TensorNames): WeightIndex {
  const index = new Map<string, StoredTensor>();
  for (const tensor of facts.tensors.values()) {
    if (IN_CONFIG.test(tensor.name)) continue;
    const name = nameOf(tensor.name, architecture);
    if (name === undefined)
      throw facts.refuse(
        `has the tensor ${printable(tensor.name)}, which ${facts.architecture} does not have here`,
      );
    const change = architecture.change?.(facts, tensor.name);
    const stored = storedAs(facts, tensor);
    for (const [one, part] of name.includes('*') ? membersOf(facts, name, stored) : [[name, stored] as const])
      index.set(one, change ? { ...part, change } : part);
  }
  return index;
}

function nameOf(name: string, { names, inLayer, layers }: TensorNames): string | undefined {
  if (Object.hasOwn(names, name)) return names[name];
  const [, layer, part = '', ending] = LAYER.exec(name) ?? [];
  if (layer !== undefined)
    return Object.hasOwn(inLayer, part) ? `${layers}.${layer}.${inLayer[part]}.${ending}` : undefined;
  const [, whole = '', end] = OTHER.exec(name) ?? [];
  return Object.hasOwn(names, whole) ? `${names[whole]}.${end}` : undefined;
}

function storedAs(facts: GgufFacts, tensor: GgufTensor & { file: string }): StoredTensor {
  const { name, file, offset, length, type, shape } = tensor;
  if (FLOATS.has(type)) return { file, offset, length, type, shape };
  const form = blockForm(type);
  if (!form)
    throw facts.refuse(
      `has ${printable(name)} as ${type}, which graphs can't be written over`,
      `give another file with --file, such as Q4_K_M or Q8_0; ${LLAMA_REMEDY}`,
    );
  return { file, offset, length, type, shape, blocks: { layout: 'ggml', type, ...form } };
}

/** Far beyond any mixture. */
const MOST_EXPERTS = 65_536;

/** The matrices of a stack, which lie one after the other. @throws WeightsError for a stack of nothing, or of absurdly many */
function membersOf(
  facts: GgufFacts,
  name: string,
  { shape, length, offset, ...stack }: StoredTensor,
): [string, StoredTensor][] {
  const [count = 0, ...rest] = shape;
  if (count < 1 || count > MOST_EXPERTS)
    throw facts.refuse(`has ${count} matrices for ${name}, which is no count of experts`);
  const each = length / count;
  return Array.from({ length: count }, (_, i) => [
    name.replace('*', String(i)),
    { ...stack, shape: rest, length: each, offset: offset + i * each },
  ]);
}
