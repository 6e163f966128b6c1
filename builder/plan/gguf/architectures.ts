import type { GgufArchitecture } from './architecture.js';
import {
  gemma,
  gemma2,
  gemma3,
  granite,
  llama,
  mixtral,
  olmo2,
  phi3,
  qwen2,
  qwen2vl,
  qwen3,
  qwen3moe,
  qwen3vl,
} from './decoders.js';
import { bert } from './encoders.js';
import { type GgufFacts, LLAMA_REMEDY } from './facts.js';
import { mistral3Of } from './ministral.js';

/** By `general.architecture`. */
const ARCHITECTURES: Readonly<Record<string, GgufArchitecture>> = {
  ...{ llama, qwen2, qwen2vl, qwen3, qwen3vl, qwen3moe, gemma, gemma2, gemma3, phi3, olmo2, granite, bert },
};

/**
 * How a model's architecture is one of transformers.
 * @throws WeightsError for one that is not known
 */
export function architectureOf(facts: GgufFacts): GgufArchitecture {
  const { architecture: name } = facts;
  if (name === 'llama' && (facts.optionalCount('expert_count') ?? 0) > 0) return mixtral;
  if (name === 'mistral3') return mistral3Of(facts);
  if (Object.hasOwn(ARCHITECTURES, name)) return ARCHITECTURES[name]!;
  const known = [...Object.keys(ARCHITECTURES), 'mistral3'].join(', ');
  throw facts.refuse(
    `is of the architecture ${name}, which no graph can be written for (${known})`,
    LLAMA_REMEDY,
  );
}
