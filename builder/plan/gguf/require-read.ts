import { printable } from '../../../runtime/core/printable.js';
import { headOf, shareOf } from './architecture.js';
import { type GgufFacts, LLAMA_REMEDY } from './facts.js';

/** What changes no answer, or is in tensors, too. */
const INERT = new Set([
  ...['vocab_size', 'context_length', 'tensor_data_layout', 'pooling_type', 'n_deepstack_layers'],
  ...['rope.scaling.finetuned', 'rope.scaling.type', 'rope.scaling.factor', 'rope.scale_linear'],
  'rope.scaling.original_context_length',
]);

/** Architectures of texts alone whose positions are the same on all axes. */
const AXES = new Set(['qwen2vl', 'qwen3vl']);

/** What keys say where it is nothing: no experts, no window, scores of experts by softmax. */
const NOTHING: readonly (readonly [key: RegExp, value: unknown])[] = [
  [/^expert_(?:\w+_)?count$/, 0],
  [/^attention\.sliding_window$/, 0],
  [/^expert_gating_func$/, 1],
  [/^attention\.causal$/, true],
];

/**
 * What the metadata of an architecture say has to be read by the time its configuration is made.
 * @throws WeightsError for a key that nothing reads, and that may change answers
 */
export function requireReadKeys(facts: GgufFacts): void {
  const { architecture, metadata } = facts;
  const readKeys = new Set(facts.readKeys);
  const beginning = `${architecture}.`;
  for (const key of metadata.keys()) {
    const own = key.slice(beginning.length);
    if (!key.startsWith(beginning) || readKeys.has(own) || INERT.has(own)) continue;
    const found = metadata.get(key);
    if (NOTHING.some(([name, none]) => name.test(own) && found === none)) continue;
    if (own === 'attention.key_length' && found === shareOf(facts)) continue;
    if (SAME_AS_HEAD.has(own) && found === headOf(facts)) continue;
    if (own === 'rope.dimension_sections' && AXES.has(architecture)) continue;
    if (own === 'attention.causal' && architecture === 'bert') continue;
    throw facts.refuse(`has ${printable(key)}, which nothing reads`, LLAMA_REMEDY);
  }
}

/** Widths that are those of a head wherever nothing reads them. */
const SAME_AS_HEAD = new Set(['attention.value_length', 'rope.dimension_count']);
