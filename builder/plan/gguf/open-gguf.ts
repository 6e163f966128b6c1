import { totalmem } from 'node:os';
import type { ModelInfo } from '../../../runtime/core/spec.js';
import { blockForm, readGgufModel } from '../../../runtime/gguf/index.js';
import {
  chooseGguf,
  type GgufVariant,
  ggufVariants,
  isGgufOnly,
} from '../../../runtime/store/choose-gguf.js';
import { StoreError } from '../../../runtime/store/errors.js';
import { type ModelSource, rangesOf } from '../../../runtime/store/source.js';
import { floatsOf, WeightsError, type WeightFile, type WeightIndex } from '../../../runtime/weights/index.js';
import { Refusal } from '../refusal.js';
import { architectureOf } from './architectures.js';
import { ggufFacts, type GgufFacts, type Json } from './facts.js';
import { ggufWeightIndex } from './weight-index.js';
import { jsonText, tokenizerFiles } from './tokenizer/index.js';
import { type MadeFile, madeFiles, virtualRepository } from './virtual-repository.js';

export interface GgufRequest {
  source: ModelSource;
  info: ModelInfo;
  /** A label, a path or a name. */
  file?: string | undefined;
  /** Why that one, where others chose it. */
  reason?: string | undefined;
  /** In bytes; this machine's if absent. */
  memory?: number | undefined;
}

/** A repository with files of GGUF as one with the files that transformers has. */
export interface GgufRepository {
  source: ModelSource;
  info: ModelInfo;
  variants: readonly GgufVariant[];
  chosen: GgufVariant;
  /** Why that file. */
  reason: string;
  /** Made of its metadata. */
  made: readonly MadeFile[];
  index: WeightIndex;
  /** The first part. */
  file: WeightFile;
  /** Of the integers that most numbers are; undefined for floats. */
  bits: 4 | 8 | undefined;
}

/**
 * Opens the file of a repository that has GGUF alone, or that is asked for.
 * @returns undefined for a repository with other weights
 * @throws Refusal for files that can't be served; StoreError when the source fails
 */
export async function openGguf(request: GgufRequest): Promise<GgufRepository | undefined> {
  const { source, info, file: wanted } = request;
  if (wanted === undefined && !isGgufOnly(info.files)) return undefined;
  const variants = ggufVariants(info.files);
  try {
    if (wanted !== undefined && variants.length === 0) throw noFiles(info.id);
    const memory = request.memory ?? totalmem();
    const fits = (variant: GgufVariant) => madeBytes(variant) + BESIDE < memory;
    const { variant: chosen, reason } = chooseGguf({ id: info.id, variants, wanted, fits, serves });
    return {
      ...(await opened({ source, info }, chosen)),
      variants,
      chosen,
      reason: request.reason ?? reason,
    };
  } catch (error) {
    if (error instanceof WeightsError) throw new Refusal(`${info.id}: ${error.reason}`, error.remedy);
    if (error instanceof StoreError && (error.kind === 'not_found' || error.kind === 'invalid'))
      throw new Refusal(error.message);
    throw error;
  }
}

const noFiles = (id: string) =>
  new StoreError('not_found', `${id} has no files of GGUF`, { remedy: 'leave out --file' });

/** What a server takes beside the weights, roughly: its figures are those of the forecast. */
const BESIDE = 300e6;

/** How much larger weights become: each kind of block has a scale of 32 bits. */
const GROWTH: readonly (readonly [label: RegExp, times: number])[] = [
  [/Q4_0|MXFP4/, 1.12],
  [/Q4/, 1.35],
  [/Q5/, 1.75],
  [/Q6/, 1.55],
  [/Q[23]/, 1.8],
];

/** Bytes of the weights that are made of a file. */
export const madeBytes = ({ label = '', size }: Pick<GgufVariant, 'label' | 'size'>): number =>
  size * (GROWTH.find(([pattern]) => pattern.test(label))?.[1] ?? 1.06);

/** Types without an exact form here. */
const serves = ({ label = '' }: GgufVariant): boolean => !/^(?:UD-)?(?:IQ[123]|TQ|Q1|NVFP4)/.test(label);

async function opened(
  { source, info }: { source: ModelSource; info: ModelInfo },
  chosen: GgufVariant,
): Promise<Omit<GgufRepository, 'variants' | 'chosen' | 'reason'>> {
  const ranges = rangesOf(source, info);
  const facts = ggufFacts(await readGgufModel(ranges, chosen.path));
  refuseOthers(facts);
  const architecture = architectureOf(facts);
  const read = async (name: string) => {
    const { file, offset, length, type } = facts.tensors.get(name)!;
    return floatsOf(await ranges.read(file, offset, length), type);
  };
  const config = {
    ...{ architectures: [architecture.className], model_type: architecture.modelType },
    ...(await architecture.config(facts, read)),
  };
  const index = ggufWeightIndex(facts, architecture);
  const made = madeFiles({
    'config.json': jsonText(config),
    ...tokenizerFiles(facts),
    ...sentenceFiles(facts),
  });
  const license = info.license ?? textOf(facts, 'general.license');
  const described = { ...info, ...(license === undefined ? {} : { license }) };
  const { path, size } = chosen.files[0]!;
  return {
    ...virtualRepository(source, described, { made, kept: chosen.files }),
    ...{ made, index, file: { path, size }, bits: bitsOf(facts) },
  };
}

function textOf({ metadata }: GgufFacts, key: string): string | undefined {
  const value = metadata.get(key);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** @throws WeightsError for files that are no model */
function refuseOthers(facts: GgufFacts): void {
  const type = textOf(facts, 'general.type') ?? 'model';
  if (type !== 'model' || facts.architecture === 'clip')
    throw facts.refuse(
      `is no model (general.type ${type}, ${facts.architecture})`,
      'give the file of the model with --file',
    );
  if (facts.tensors.size === 0) throw facts.refuse('has a vocabulary and no weights');
}

/** Kinds of pooling, by their numbers in llama.cpp. */
const POOLING: Readonly<Record<number, string>> = { 1: 'mean_tokens', 2: 'cls_token', 3: 'lasttoken' };

/** As sentence-transformers says how the vectors of tokens become one. */
function sentenceFiles(facts: GgufFacts): Record<string, string> {
  const mode = POOLING[facts.optionalCount('pooling_type') ?? 0];
  if (mode === undefined) return {};
  const modules = ['Transformer', 'Pooling', 'Normalize'].map((name, idx) => ({
    ...{ idx, name: String(idx), path: idx === 0 ? '' : `${idx}_${name}` },
    type: `sentence_transformers.models.${name}`,
  }));
  const pooling: Json = {
    word_embedding_dimension: facts.count('embedding_length'),
    ...Object.fromEntries(Object.values(POOLING).map((name) => [`pooling_mode_${name}`, name === mode])),
  };
  return {
    'modules.json': `${JSON.stringify(modules, null, 1)}\n`,
    '1_Pooling/config.json': jsonText(pooling),
    'sentence_bert_config.json': jsonText({
      max_seq_length: facts.count('context_length'),
      do_lower_case: false,
    }),
  };
}

/** Of the integers that most numbers of the model are. */
function bitsOf({ tensors }: GgufFacts): 4 | 8 | undefined {
  const numbers = new Map<4 | 8 | undefined, number>();
  for (const { type, shape } of tensors.values()) {
    const bits = blockForm(type)?.bits;
    const count = shape.reduce((product, size) => product * size, 1);
    numbers.set(bits, (numbers.get(bits) ?? 0) + count);
  }
  return [...numbers].sort(([, a], [, b]) => b - a)[0]?.[0];
}
