import { rounded } from './rounded.js';
import { llama } from './decoders.js';
import type { GgufArchitecture } from './architecture.js';
import type { GgufFacts } from './facts.js';

/** Ministral 3, whose queries grow with their positions. */
const ministral3: GgufArchitecture = {
  ...llama,
  ...{ modelType: 'ministral3', className: 'Ministral3ForCausalLM' },
  async config(facts, read) {
    const { rope_scaling: scaling, ...fields } = await llama.config(facts, read);
    const growth = facts.optionalNumber('attention.temperature_scale');
    if (growth === undefined || scaling === null)
      throw facts.refuse('has no mistral3.attention.temperature_scale beside scaled positions');
    return {
      ...{ ...fields, sliding_window: null },
      rope_scaling: { ...(scaling as object), llama_4_scaling_beta: rounded(growth) },
    };
  },
};

/** Mistral 3 is Mistral, but for what Ministral 3 has beside. */
export const mistral3Of = (facts: GgufFacts): GgufArchitecture =>
  facts.value('attention.temperature_scale') === undefined ? llama : ministral3;
