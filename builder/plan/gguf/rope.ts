import { rounded } from './rounded.js';
import type { GgufFacts, Json } from './facts.js';

/** Reads the floats of a small tensor. */
export type ReadFloats = (tensor: string) => Promise<Float32Array>;

/** `rope_theta` and `rope_scaling` of config.json. */
export async function ropeFields(facts: GgufFacts, read: ReadFloats): Promise<Json> {
  const theta = facts.optionalNumber('rope.freq_base') ?? 10_000;
  return { rope_theta: theta, rope_scaling: await scalingOf(facts, { theta, read }) };
}

async function scalingOf(
  facts: GgufFacts,
  { theta, read }: { theta: number; read: ReadFloats },
): Promise<Json | null> {
  const type = facts.optionalText('rope.scaling.type') ?? 'none';
  if (facts.has('rope_freqs.weight')) return stretched(facts, theta, await read('rope_freqs.weight'));
  // Files of before August 2023 have a scale alone.
  const factor =
    facts.optionalNumber('rope.scaling.factor') ?? facts.optionalNumber('rope.scale_linear') ?? 0;
  if (['long', 'short'].some((length) => facts.has(`rope_factors_${length}.weight`)))
    return longRope(facts, {
      long: await read(requireFactors(facts, 'long')),
      short: await read(requireFactors(facts, 'short')),
    });
  if (type === 'none' || factor === 0 || factor === 1) return null;
  if (type === 'linear') return { rope_type: 'linear', factor };
  if (type === 'yarn') return yarn(facts, factor);
  throw facts.refuse(`has rope.scaling.type ${type}, which is not known`);
}

/** Fields of YaRN by what follows `rope.scaling.yarn_`; nothing here reads another one. */
const YARN = { beta_fast: 'beta_fast', beta_slow: 'beta_slow', attn_factor: 'attention_factor' } as const;

function yarn(facts: GgufFacts, factor: number): Json {
  const length = facts.count('rope.scaling.original_context_length');
  const given = (name: string) => facts.optionalNumber(`rope.scaling.yarn_${name}`);
  const extrapolated = given('ext_factor') ?? 1;
  if (extrapolated !== 1)
    throw facts.refuse(`has ${extrapolated} as rope.scaling.yarn_ext_factor, which is not known`);
  const fields = Object.entries(YARN).flatMap(([key, name]) => {
    const found = given(key);
    return found === undefined ? [] : [[name, rounded(found)] as const];
  });
  return {
    ...{ rope_type: 'yarn', factor, original_max_position_embeddings: length },
    ...Object.fromEntries(fields),
    ...scaleOfAttention(facts, given('log_multiplier')),
  };
}

/** Both of one number in all published models, of which files have one. */
function scaleOfAttention(facts: GgufFacts, all: number | undefined): Json {
  if (all === undefined) return {};
  if (all === 1) return { mscale: 1, mscale_all_dim: 1 };
  throw facts.refuse(`has ${all} as rope.scaling.yarn_log_multiplier, whose counterpart files do not have`);
}

/** The name of factors of a length. @throws WeightsError where they are missing, or no list */
function requireFactors(facts: GgufFacts, length: 'long' | 'short'): string {
  const name = `rope_factors_${length}.weight`;
  if (facts.shapeOf(name).length === 1) return name;
  throw facts.refuse(`has ${name}, which is no list`);
}

function longRope(facts: GgufFacts, { long, short }: Record<'long' | 'short', Float32Array>): Json {
  const attention = facts.optionalNumber('rope.scaling.attn_factor');
  return {
    ...{ rope_type: 'longrope', long_factor: [...long], short_factor: [...short] },
    ...(attention === undefined ? {} : { attention_factor: attention }),
  };
}

/** Of Llama 3.1 and what was made of it; other settings were never published. */
const [LOW, HIGH, LENGTH] = [1, 4, 8192];
const NEAR = 1e-4;

/**
 * The settings of Llama 3 that give these divisors of frequencies: metadata don't have them.
 * @throws WeightsError for divisors of other settings
 */
function stretched(facts: GgufFacts, theta: number, divisors: Float32Array): Json | null {
  const factor = divisors.reduce((most, value) => Math.max(most, value), 1);
  if (factor === 1) return null;
  const fits = divisors.every((divisor, i) => {
    const wave = 2 * Math.PI * theta ** (i / divisors.length);
    const smooth = Math.min(1, Math.max(0, (LENGTH / wave - LOW) / (HIGH - LOW)));
    return Math.abs(divisor * ((1 - smooth) / factor + smooth) - 1) < NEAR;
  });
  if (!fits) throw facts.refuse('has divisors of frequencies (rope_freqs) that are not those of Llama 3');
  return {
    ...{ rope_type: 'llama3', factor, low_freq_factor: LOW, high_freq_factor: HIGH },
    original_max_position_embeddings: LENGTH,
  };
}
