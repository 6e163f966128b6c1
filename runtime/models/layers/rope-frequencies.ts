import * as z from 'zod';
import { GraphError } from '../writer/errors.js';

/** What rotary positions are made of; names and defaults as in transformers' configurations. */
export const rotaryConfig = {
  rope_theta: z.number().positive().default(10_000),
  max_position_embeddings: z
    .int()
    .min(1)
    .max(2 ** 30)
    .default(2048),
  original_max_position_embeddings: z.int().min(1).nullish(),
  rope_scaling: z.record(z.string(), z.unknown()).nullish(),
};

/** Of families whose heads may turn in part: those of the others turn whole, whatever a file says. */
export const partialRotaryConfig = { partial_rotary_factor: z.number().positive().max(1).nullish() };

type AllRotaryFields = z.output<z.ZodObject<typeof rotaryConfig & typeof partialRotaryConfig>>;

export type RotaryConfig = Pick<AllRotaryFields, 'rope_theta' | 'max_position_embeddings'> &
  Partial<AllRotaryFields> & {
    /** For each frequency the axis of positions that it turns by; absent where there is one axis. */
    axes?: readonly number[];
  };

/** Angles are position · frequency; cosine and sine are multiplied by the scale. */
export interface Frequencies {
  values: readonly number[];
  scale: number;
  /** Other ones for rows that are longer than so many tokens. */
  beyond?: { length: number; values: readonly number[] } | undefined;
  /** Powers, one for each value, of how much longer than so many tokens a row is, times the factor; they multiply the values. */
  growth?: { length: number; factor: number; powers: readonly number[] } | undefined;
}

const positive = z.number().positive();

/** Four times those of any head, and frequencies of a thousand layers are found in half a second. */
const MOST_DIMENSIONS = 1024;

/**
 * Frequencies of one head's rotary dimensions. Source: modeling_rope_utils.py.
 * @param headWidth before the partial factor
 * @throws GraphError for a kind of scaling that is not known, and where no frequencies follow
 */
export function rotaryFrequencies(config: RotaryConfig, headWidth: number): Frequencies {
  const width = rotaryWidth(config, headWidth);
  if (width < 2 || width > MOST_DIMENSIONS || width % 2 !== 0)
    throw new GraphError(`config.json: ${width} rotary dimensions of a head can't be parted into pairs`);
  const scaling = config.rope_scaling ?? {};
  const kind = kindOf(config);
  if (typeof kind !== 'string') throw new GraphError('config.json: the type of rope_scaling is no text');
  const scale = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (!scale) throw new GraphError(`config.json: rope_scaling of the type ${kind} is not known`);
  const found = scale({ config, scaling, width, base: config.rope_theta });
  const numbers = [found.scale, ...found.values, ...(found.beyond?.values ?? [])];
  if (numbers.every((value) => Number.isFinite(Math.fround(value)))) return found;
  throw new GraphError('config.json: rope_theta and rope_scaling lead to frequencies that are no numbers');
}

const kindOf = ({ rope_scaling: scaling }: RotaryConfig): unknown =>
  scaling?.['rope_type'] ?? scaling?.['type'] ?? 'default';

/** Proportional frequencies are those of the whole head; the last of them are zero. */
const rotaryWidth = (config: RotaryConfig, headWidth: number): number =>
  kindOf(config) === 'proportional' ? headWidth : Math.floor(headWidth * (config.partial_rotary_factor ?? 1));

interface Scaling {
  config: RotaryConfig;
  scaling: Readonly<Record<string, unknown>>;
  width: number;
  base: number;
}

const KINDS: Readonly<Record<string, (request: Scaling) => Frequencies>> = {
  default: ({ base, width }) => ({ values: plain(base, width), scale: 1 }),
  mrope: ({ base, width }) => ({ values: plain(base, width), scale: 1 }),
  linear: ({ base, width, scaling }) => {
    const factor = numberOf(scaling, 'factor');
    return { values: plain(base, width).map((value) => Math.fround(value / factor)), scale: 1 };
  },
  dynamic,
  proportional,
  ntk,
  llama3,
  yarn,
  longrope,
  su: longrope,
};

/** As torch computes them, in float32: 1 / base^(2i / width). */
function plain(base: number, width: number, factors?: readonly number[]): number[] {
  return Array.from({ length: width / 2 }, (_, i) => {
    const power = Math.fround(base ** Math.fround((2 * i) / width));
    return Math.fround(1 / (factors ? Math.fround(Math.fround(factors[i]!) * power) : power));
  });
}

/** The base grows with a text beyond the length that the model was trained for. */
function dynamic({ base, width, scaling, config }: Scaling): Frequencies {
  const factor = numberOf(scaling, 'factor');
  if (width < 4) throw new GraphError('config.json: rope_scaling of the type dynamic needs wider heads');
  const powers = Array.from({ length: width / 2 }, (_, i) => (-2 * i) / (width - 2));
  const growth = { length: config.max_position_embeddings, factor, powers };
  return { values: plain(base, width), scale: 1, growth };
}

/** The powers of the base count on the whole head; what is not turned has the frequency 0. */
function proportional({ base, width, scaling, config }: Scaling): Frequencies {
  const share = optional(scaling, 'partial_rotary_factor') ?? config.partial_rotary_factor ?? 1;
  const turned = Math.floor(Math.floor(Math.min(share, 1) * width) / 2);
  const factor = optional(scaling, 'factor') ?? 1;
  const values = plain(base, width).map((value, i) => (i < turned ? Math.fround(value / factor) : 0));
  return { values, scale: 1 };
}

/** The base grows, and all waves a little besides. Source: "new-impl" of GTE's makers, which no release of transformers has */
function ntk({ base, width, scaling }: Scaling): Frequencies {
  if (scaling['mixed_b'] !== undefined && scaling['mixed_b'] !== null)
    throw new GraphError('config.json: rope_scaling with mixed_b is not known');
  const factor = numberOf(scaling, 'factor');
  const stretch = factor ** (2 / width);
  return { values: plain(base * factor, width).map((value) => Math.fround(value / stretch)), scale: 1 };
}

/** Long waves are stretched, short ones kept, those between blended. */
function llama3({ base, width, scaling }: Scaling): Frequencies {
  const [factor, low, high, length] = [
    ...['factor', 'low_freq_factor', 'high_freq_factor', 'original_max_position_embeddings'],
  ].map((name) => numberOf(scaling, name)) as [number, number, number, number];
  const values = plain(base, width).map((value) => {
    const wave = (2 * Math.PI) / value;
    if (wave > length / low) return value / factor;
    if (wave < length / high) return value;
    const smooth = (length / wave - low) / (high - low);
    return ((1 - smooth) * value) / factor + smooth * value;
  });
  return { values: values.map(Math.fround), scale: 1 };
}

function yarn({ base, width, scaling, config }: Scaling): Frequencies {
  const factor = numberOf(scaling, 'factor');
  const length = optional(scaling, 'original_max_position_embeddings') ?? config.max_position_embeddings;
  const dimensionOf = (rotations: number) =>
    (width * Math.log(length / (rotations * 2 * Math.PI))) / (2 * Math.log(base));
  const truncate = scaling['truncate'] !== false;
  const first = dimensionOf(optional(scaling, 'beta_fast') ?? 32);
  const last = dimensionOf(optional(scaling, 'beta_slow') ?? 1);
  const low = Math.max(truncate ? Math.floor(first) : first, 0);
  const end = Math.min(truncate ? Math.ceil(last) : last, width - 1);
  const high = low === end ? end + 0.001 : end;
  const values = plain(base, width).map((value, i) => {
    const ramp = Math.min(1, Math.max(0, (i - low) / (high - low)));
    return Math.fround((value / factor) * ramp + value * (1 - ramp));
  });
  return { values, scale: optional(scaling, 'attention_factor') ?? yarnScale(scaling, factor) };
}

function yarnScale(scaling: Scaling['scaling'], factor: number): number {
  const [own, all] = [optional(scaling, 'mscale'), optional(scaling, 'mscale_all_dim')];
  const grown = (by: number) => (factor <= 1 ? 1 : 0.1 * by * Math.log(factor) + 1);
  return own && all ? grown(own) / grown(all) : grown(1);
}

/** Two sets of divisors: for texts within the original length, and for longer ones. */
function longrope({ base, width, scaling, config }: Scaling): Frequencies {
  const length = config.original_max_position_embeddings ?? config.max_position_embeddings;
  const factor = config.original_max_position_embeddings
    ? config.max_position_embeddings / length
    : numberOf(scaling, 'factor');
  const grown = factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(length));
  return {
    values: plain(base, width, listOf(scaling, 'short_factor', width / 2)),
    scale: optional(scaling, 'attention_factor') ?? grown,
    beyond: { length, values: plain(base, width, listOf(scaling, 'long_factor', width / 2)) },
  };
}

function numberOf(scaling: Scaling['scaling'], name: string): number {
  const value = optional(scaling, name);
  if (value === undefined) throw new GraphError(`config.json: rope_scaling has no ${name}`);
  return value;
}

function optional(scaling: Scaling['scaling'], name: string): number | undefined {
  const parsed = positive.safeParse(scaling[name]);
  return parsed.success ? parsed.data : undefined;
}

function listOf(scaling: Scaling['scaling'], name: string, length: number): number[] {
  const parsed = z.array(positive).length(length).safeParse(scaling[name]);
  if (parsed.success) return parsed.data;
  throw new GraphError(`config.json: rope_scaling.${name} is not a list of ${length} numbers`);
}
