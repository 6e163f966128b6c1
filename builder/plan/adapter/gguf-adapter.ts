import { isModelId } from '../../../runtime/core/ids.js';
import { printable } from '../../../runtime/core/printable.js';
import type { GgufModel } from '../../../runtime/gguf/index.js';
import type { StoredTensor, WeightIndex } from '../../../runtime/weights/index.js';
import { architectureOf } from '../gguf/architectures.js';
import type { GgufArchitecture } from '../gguf/architecture.js';
import { ggufFacts, type GgufFacts, type Json } from '../gguf/facts.js';
import { rounded } from '../gguf/rounded.js';
import { ggufWeightIndex } from '../gguf/weight-index.js';
import type { LoraSettings } from './settings.js';

/** An adapter (LoRA) in a file of GGUF. */
export interface GgufAdapter {
  path: string;
  settings: LoraSettings;
  /** Its tensors by the names that peft has for them. @param base config.json of the model that it changes */
  tensors(base: Json): WeightIndex;
}

const SIDE = /^(.+\.weight)\.lora_([ab])$/;

/** @throws WeightsError for one that is not merged here */
export function ggufAdapter(model: GgufModel): GgufAdapter {
  const facts = ggufFacts(model);
  const { metadata, refuse } = facts;
  const kind = metadata.get('adapter.type');
  if (kind !== 'lora')
    throw refuse(`is an adapter of the kind ${printable(String(kind))}, and only lora is merged here`);
  if (metadata.has('adapter.alora.invocation_tokens'))
    throw refuse('is an adapter that begins at some tokens (adapter.alora.invocation_tokens)');
  const alpha = metadata.get('adapter.lora.alpha');
  if (typeof alpha !== 'number' || !Number.isFinite(alpha) || alpha === 0)
    throw refuse('has no number as adapter.lora.alpha');
  const ranks = new Map<string, number>();
  const settings: LoraSettings = {
    ...{ base: baseOf(facts), revision: undefined },
    rankOf: (module) => ranks.get(module) ?? 0,
    scaleOf: (module) => rounded(alpha) / (ranks.get(module) ?? 1),
  };
  return { path: facts.file, settings, tensors: (base) => tensorsOf(facts, base, ranks) };
}

/** Id of the model that it changes, by the last parts of its address. */
function baseOf({ metadata, refuse }: GgufFacts): string {
  const address = metadata.get('general.base_model.0.repo_url');
  const [, id = ''] = typeof address === 'string' ? (/([^/\s]+\/[^/\s]+?)\/?$/.exec(address) ?? []) : [];
  if (isModelId(id)) return id;
  throw refuse('does not name the model that it changes (general.base_model.0.repo_url)');
}

/** What the converter did to rows of a matrix it did to those of its second factor. */
function tensorsOf(facts: GgufFacts, base: Json, ranks: Map<string, number>): WeightIndex {
  const architecture = architectureOf(facts);
  const beside = withHeads(facts, base);
  const index = new Map<string, StoredTensor>();
  for (const tensor of facts.tensors.values()) {
    const [, whole, side] = SIDE.exec(tensor.name) ?? [];
    if (whole === undefined || whole === 'token_embd.weight' || tensor.shape.length !== 2)
      throw facts.refuse(`is an adapter with ${printable(tensor.name)}, which is not merged here`);
    const [[name, stored]] = [...indexOf(beside, { ...tensor, name: whole }, architecture)] as [
      [string, StoredTensor],
    ];
    const module = name.replace(/\.weight$/, '');
    if (side === 'a') ranks.set(module, tensor.shape[0]!);
    const { change, ...plain } = stored;
    const kept = side === 'b' && change?.kind === 'rows' ? stored : plain;
    index.set(`base_model.model.${module}.lora_${side!.toUpperCase()}.weight`, kept);
  }
  return index;
}

/** One tensor by its name in transformers. @throws WeightsError for one that the architecture does not have, and for stacks */
function indexOf(
  facts: GgufFacts,
  tensor: GgufFacts['tensors'] extends ReadonlyMap<string, infer T> ? T : never,
  architecture: GgufArchitecture,
): WeightIndex {
  const found = ggufWeightIndex({ ...facts, tensors: new Map([[tensor.name, tensor]]) }, architecture);
  const [[name = '', stored] = []] = found;
  if (found.size === 1 && stored && !stored.blocks && !/\.experts\./.test(name)) return found;
  throw facts.refuse(
    `is an adapter with ${printable(tensor.name)} as ${tensor.type}, which is not merged here`,
  );
}

/** Heads are those of the base: an adapter's metadata have none. */
function withHeads(facts: GgufFacts, base: Json): GgufFacts {
  const heads: Readonly<Record<string, unknown>> = {
    'attention.head_count': base['num_attention_heads'],
    'attention.head_count_kv': base['num_key_value_heads'] ?? base['num_attention_heads'],
  };
  const optionalCount = (key: string): number | undefined => {
    const found = heads[key];
    return typeof found === 'number' && Number.isInteger(found) && found > 0 ? found : undefined;
  };
  return {
    ...{ ...facts, optionalCount },
    count(key) {
      const found = optionalCount(key);
      if (found !== undefined) return found;
      throw facts.refuse(`changes a model that does not say its ${key}`);
    },
  };
}

/** True for a file that is an adapter, whatever its name. */
export const isGgufAdapter = ({ metadata }: GgufModel): boolean => metadata.get('general.type') === 'adapter';
