import type { GgufArchitecture } from './architecture.js';
import {
  gemma,
  gemma2,
  gemma3,
  granite,
  llama,
  mixtral,
  phi3,
  qwen2,
  qwen2vl,
  qwen3,
  qwen3moe,
  qwen3vl,
} from './decoders.js';
import { bert } from './encoders.js';
import {
  arcee,
  cohere2,
  ernie45,
  exaone4,
  glm4,
  nemotron,
  olmoe,
  olmoOf,
  seedOss,
  smollm3,
  starcoder2,
} from './more-decoders.js';
import { type GgufFacts, LLAMA_REMEDY } from './facts.js';
import { mistral3Of } from './ministral.js';

type Choose = (facts: GgufFacts) => GgufArchitecture;

const always =
  (one: GgufArchitecture): Choose =>
  () =>
    one;

/** By `general.architecture`, what the other metadata make of it. */
const ARCHITECTURES: Readonly<Record<string, Choose>> = {
  llama: (facts) => ((facts.optionalCount('expert_count') ?? 0) > 0 ? mixtral : llama),
  ...{ mistral3: mistral3Of, olmo2: olmoOf },
  ...{ qwen2: always(qwen2), qwen2vl: always(qwen2vl), qwen3: always(qwen3), qwen3vl: always(qwen3vl) },
  ...{ qwen3moe: always(qwen3moe), gemma: always(gemma), gemma2: always(gemma2), gemma3: always(gemma3) },
  ...{ phi3: always(phi3), granite: always(granite), bert: always(bert), smollm3: always(smollm3) },
  ...{ glm4: always(glm4), ernie4_5: always(ernie45), starcoder2: always(starcoder2) },
  ...{ cohere2: always(cohere2), olmoe: always(olmoe), seed_oss: always(seedOss), arcee: always(arcee) },
  ...{ nemotron: always(nemotron), exaone4: always(exaone4) },
};

/**
 * How a model's architecture is one of transformers.
 * @throws WeightsError for one that is not known
 */
export function architectureOf(facts: GgufFacts): GgufArchitecture {
  const { architecture: name } = facts;
  if (Object.hasOwn(ARCHITECTURES, name)) return ARCHITECTURES[name]!(facts);
  const known = Object.keys(ARCHITECTURES).join(', ');
  throw facts.refuse(
    `is of the architecture ${name}, which no graph can be written for (${known})`,
    LLAMA_REMEDY,
  );
}
