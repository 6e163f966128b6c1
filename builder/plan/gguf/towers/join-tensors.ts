import { printable } from '../../../../runtime/core/printable.js';
import { blockForm, type GgufTensor } from '../../../../runtime/gguf/index.js';
import type { TowerFacts } from './tower-facts.js';

type Tensors = TowerFacts['tensors'];
type Tensor = GgufTensor & { file: string };

/** Patches of two frames, which converters part. */
export const FRAMES = 2;

/** The tensors of an encoder of patches as transformers has them: queries, keys and values in one, both frames of a patch in one. */
export function joinedTensors(facts: TowerFacts): Tensors {
  const found = new Map(facts.tensors);
  const replace = (parts: readonly string[], joined: Tensor) => {
    for (const name of parts) found.delete(name);
    found.set(joined.name, joined);
  };
  for (const name of facts.tensors.keys()) {
    const [, layer, ending] = /^(v\.blk\.\d+)\.attn_q\.(weight|bias)$/.exec(name) ?? [];
    if (layer === undefined) continue;
    const parts = ['q', 'k', 'v'].map((part) => `${layer}.attn_${part}.${ending}`);
    const one = inOne(facts, parts);
    replace(parts, { ...one, name: `${layer}.attn_qkv.${ending}`, shape: stacked(one.shape, parts.length) });
  }
  const frames = ['v.patch_embd.weight', 'v.patch_embd.weight.1'];
  const patches = inOne(facts, frames);
  const [width = 0, channels = 0, ...edges] = patches.shape;
  if (blockForm(patches.type)) throw facts.refuse(`has ${frames[0]} as ${patches.type}`);
  replace(frames, { ...patches, name: frames[0]!, shape: [width, channels, FRAMES, ...edges] });
  return found;
}

const stacked = ([rows = 0, ...rest]: readonly number[], count: number): number[] => [rows * count, ...rest];

/** Tensors of one shape that lie one behind the other, with the first one's shape. @throws WeightsError where they do not */
function inOne(facts: TowerFacts, names: readonly string[]): Tensor {
  const parts = names.map((name) => {
    const { length } = facts.shapeOf(name);
    if (length > 0) return facts.tensors.get(name)!;
    throw facts.refuse(`has no sizes of ${printable(name)}`);
  });
  const [first] = parts as [Tensor];
  const fits = parts.every(
    ({ file, type, length, offset, shape }, i) =>
      file === first.file &&
      type === first.type &&
      length === first.length &&
      offset === first.offset + i * first.length &&
      String(shape) === String(first.shape),
  );
  if (!fits) throw facts.refuse(`has ${names.join(', ')} not one behind the other, as converters write them`);
  return { ...first, length: first.length * parts.length };
}
