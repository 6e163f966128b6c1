import type { ModelInfo } from '../../../runtime/core/spec.js';
import { blockForm } from '../../../runtime/gguf/index.js';
import type { GgufVariant } from '../../../runtime/store/choose-gguf.js';
import { type ModelSource, rangesOf } from '../../../runtime/store/source.js';
import {
  floatsOf,
  numbersIn,
  WeightsError,
  type WeightFile,
  type WeightIndex,
} from '../../../runtime/weights/index.js';
import type { ChosenGguf } from './choose-file.js';
import { Refusal } from '../refusal.js';
import { architectureOf } from './architectures.js';
import { ggufFacts, type GgufFacts, type Json } from './facts.js';
import type { ChosenTower } from './towers/choose-tower.js';
import { requirePair, towerConfig, towerFiles, withTower } from './towers/open-tower.js';
import { requireReadKeys } from './require-read.js';
import { ggufWeightIndex } from './weight-index.js';
import { jsonText } from './json-text.js';
import { tokenizerFiles } from './tokenizer/index.js';
import { vocabularyOf, withTokens } from './tokenizer/vocabulary.js';
import { type MadeFile, madeFiles, virtualRepository } from './virtual-repository.js';

/** A repository with files of GGUF as one with the files that transformers has. */
export interface GgufRepository {
  source: ModelSource;
  info: ModelInfo;
  variants: readonly GgufVariant[];
  chosen: GgufVariant;
  /** Why that file. */
  reason: string;
  /** The file for images that is read beside it. */
  tower?: Pick<ChosenTower, 'variant' | 'reason'> | undefined;
  /** Made of its metadata. */
  made: readonly MadeFile[];
  index: WeightIndex;
  /** The first part. */
  file: WeightFile;
  /** Of the integers that most numbers are; undefined for floats. */
  bits: 4 | 8 | undefined;
}

/**
 * A repository whose file graphs of ours are to be written over.
 * @throws Refusal for a file that can't be served; StoreError when the source fails
 */
export async function openGguf(
  source: ModelSource,
  info: ModelInfo,
  { variants, variant: chosen, reason, model }: ChosenGguf,
  tower?: ChosenTower,
): Promise<GgufRepository> {
  try {
    const facts = ggufFacts(model);
    refuseOthers(facts);
    if (tower) requirePair(tower, facts);
    const made = await madeOf(facts, { ranges: rangesOf(source, info), tower });
    requireReadKeys(facts);
    const license = info.license ?? textOf(facts, 'general.license');
    const described = { ...info, ...(license === undefined ? {} : { license }) };
    // Tags of repositories say what the model alone does.
    if (tower) delete described.pipelineTag;
    const { path, size } = chosen.files[0]!;
    const text = ggufWeightIndex(facts, architectureOf(facts));
    const kept = [...chosen.files, ...(tower?.variant.files ?? [])];
    return {
      ...virtualRepository(source, described, { made, kept }),
      ...{ variants, chosen, reason, made, tower, index: tower ? withTower(tower, text) : text },
      ...{ file: { path, size }, bits: bitsOf(facts) },
    };
  } catch (error) {
    if (error instanceof WeightsError) throw new Refusal(`${info.id}: ${error.reason}`, error.remedy);
    throw error;
  }
}

interface Making {
  ranges: ReturnType<typeof rangesOf>;
  tower: ChosenTower | undefined;
}

/** What transformers has in files of their own. */
async function madeOf(facts: GgufFacts, { ranges, tower }: Making): Promise<MadeFile[]> {
  const architecture = architectureOf(facts);
  const read = async (name: string) => {
    const { file, offset, length, type } = facts.tensors.get(name)!;
    return floatsOf(await ranges.read(file, offset, length), type);
  };
  const fields = await architecture.config(facts, read);
  const vocabulary = withTokens(vocabularyOf(facts), tower?.projector.tokens ?? []);
  const { className, modelType } = tower?.projector ?? architecture;
  const config = {
    ...{ architectures: [className], model_type: modelType },
    ...(tower ? towerConfig(tower, { facts, vocabulary, config: fields }) : fields),
  };
  return madeFiles({
    'config.json': jsonText(config),
    ...tokenizerFiles(facts, vocabulary),
    ...(tower ? towerFiles(tower) : sentenceFiles(facts)),
  });
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
  for (const tensor of tensors.values()) {
    const bits = blockForm(tensor.type)?.bits;
    numbers.set(bits, (numbers.get(bits) ?? 0) + numbersIn([tensor]));
  }
  return [...numbers].sort(([, a], [, b]) => b - a)[0]?.[0];
}
