import { totalmem } from 'node:os';
import type { ModelInfo } from '../../../runtime/core/spec.js';
import { type GgufModel, readGgufModel } from '../../../runtime/gguf/index.js';
import {
  chooseGguf,
  type GgufChoice,
  type GgufVariant,
  ggufVariants,
} from '../../../runtime/store/choose-gguf.js';
import { StoreError } from '../../../runtime/store/errors.js';
import { type ModelSource, rangesOf } from '../../../runtime/store/source.js';
import { WeightsError } from '../../../runtime/weights/index.js';
import { Refusal } from '../refusal.js';

/** The file of a repository of GGUF that is served, with its header. */
export interface ChosenGguf extends GgufChoice {
  variants: readonly GgufVariant[];
  model: GgufModel;
}

/** What a server takes beside the weights, roughly: its figures are those of the forecast. */
const BESIDE = 300e6;

/** How much larger weights become for graphs of ours: each kind of block has a scale of 32 bits. */
const GROWTH: readonly (readonly [label: RegExp, times: number])[] = [
  [/Q4_0|MXFP4/, 1.12],
  [/Q4/, 1.35],
  [/Q5/, 1.75],
  [/Q6/, 1.55],
  [/Q[23]/, 1.8],
];

/** Bytes of the weights that are made of a file for graphs of ours. */
export const madeBytes = ({ label = '', size }: Pick<GgufVariant, 'label' | 'size'>): number =>
  size * (GROWTH.find(([pattern]) => pattern.test(label))?.[1] ?? 1.06);

/** False for types without an exact form in graphs of ours. */
const hasExactForm = ({ label = '' }: GgufVariant): boolean =>
  !/^(?:UD-)?(?:IQ[123]|TQ|Q1|NVFP4)/.test(label);

export interface WantedGguf {
  /** A label, a path or a name. */
  file?: string | undefined;
  /** What is to compute it, where that is asked for. */
  engine?: 'llama' | 'own' | undefined;
}

/**
 * Chooses a file and reads its header.
 * @throws Refusal where there is none, and for a header that is damaged; StoreError when the source fails
 */
export async function chooseFile(
  source: Pick<ModelSource, 'read'>,
  info: ModelInfo,
  wanted: WantedGguf = {},
): Promise<ChosenGguf> {
  const variants = ggufVariants(info.files);
  const choice = choose(info, variants, wanted);
  return { ...choice, variants, model: await readHeader(source, info, choice.variant) };
}

function choose(
  { id }: ModelInfo,
  variants: readonly GgufVariant[],
  { file: wanted, engine }: WantedGguf,
): GgufChoice {
  const isOwn = engine === 'own';
  const fits = (variant: GgufVariant) => (isOwn ? madeBytes(variant) : variant.size) + BESIDE < totalmem();
  try {
    return chooseGguf({ id, variants, wanted, fits, ...(isOwn && { serves: hasExactForm }) });
  } catch (error) {
    if (error instanceof StoreError) throw new Refusal(error.message);
    throw error;
  }
}

async function readHeader(
  source: Pick<ModelSource, 'read'>,
  info: ModelInfo,
  { path }: GgufVariant,
): Promise<GgufModel> {
  try {
    return await readGgufModel(rangesOf(source, info), path);
  } catch (error) {
    if (error instanceof WeightsError) throw new Refusal(`${info.id}: ${error.message}`);
    throw error;
  }
}
