import type { BaseModel, ModelInfo } from '../../../runtime/core/spec.js';
import { isTrainedModel, TOKENIZER_SETTINGS } from '../../../runtime/core/vocabulary-files.js';
import { inBase, isBaseFile, openLayered } from '../../../runtime/store/layered.js';
import type { ModelSource } from '../../../runtime/store/source.js';

/** An adapter's repository over that of its base model, read as one. */
export interface Layers {
  source: ModelSource;
  info: ModelInfo;
  base: BaseModel;
}

/** Files of a vocabulary. A repository with one of them has a tokenizer of its own. */
const isVocabulary = (path: string): boolean =>
  ['tokenizer.json', 'vocab.json', 'vocab.txt', 'merges.txt'].includes(path) || isTrainedModel(path);

const isTokenizer = (path: string): boolean =>
  isVocabulary(path) || TOKENIZER_SETTINGS.includes(path) || path.startsWith('chat_template.');

/** Licence texts and cards, the adapter itself, and how images and audio clips are prepared. */
const OWN = /^(?:adapter_|licen[cs]e|notice|readme|preprocessor_config|processor_config|video_preprocessor)/i;

const isExport = (path: string): boolean => /\.onnx(?:[._]data)?$/.test(path);

/**
 * Puts an adapter's files over those of its base. A tokenizer comes from one of both as a whole: the adapter's where it
 * has a vocabulary. Configuration and weights are the base's.
 * @param file of the adapter, where it is in GGUF
 */
export function layered(
  adapter: { source: ModelSource; info: ModelInfo },
  below: { source: ModelSource; info: ModelInfo },
  file?: string,
): Layers {
  const { info } = adapter;
  const hasTokenizer = info.files.some(({ path }) => isVocabulary(path));
  const own = info.files.filter(({ path }) =>
    isTokenizer(path) ? hasTokenizer : path === file || OWN.test(path),
  );
  const names = new Set(own.map(({ path }) => path));
  const under = below.info.files.filter(
    ({ path }) => !names.has(path) && !isExport(path) && !(hasTokenizer && isTokenizer(path)),
  );
  const { id, revision, commit, libraryName } = below.info;
  const base: BaseModel = { id, revision, commit, files: under.map(({ path }) => path).sort() };
  const files = [...own, ...under].sort((a, b) => (a.path < b.path ? -1 : 1));
  const { pipelineTag = below.info.pipelineTag, license = below.info.license } = info;
  const tags = [...info.tags, ...below.info.tags];
  return {
    source: { ...adapter.source, ...layeredFiles(adapter.source, below.source, base) },
    info: { ...info, pipelineTag, license, libraryName, tags, files },
    base,
  };
}

type Files = Pick<ModelSource, 'open' | 'read' | 'readText'>;

/** Reads each file from the repository that it is of. */
export function layeredFiles(adapter: Files, below: Files, base: BaseModel): Files {
  const isBase = isBaseFile(base);
  return {
    ...openLayered(adapter, () => below, base),
    read: (ref, file, ...rest) =>
      isBase(file.path) ? below.read(base, inBase(base, file), ...rest) : adapter.read(ref, file, ...rest),
    readText: (info, path) =>
      isBase(path)
        ? below.readText(infoOfBase(info, base), inBase(base, { path }).path)
        : adapter.readText(info, path),
  };
}

/** The listing as the repository of the base has it. */
function infoOfBase(info: ModelInfo, base: BaseModel): ModelInfo {
  const isBase = isBaseFile(base);
  const files = info.files.filter(({ path }) => isBase(path)).map((file) => inBase(base, file));
  return { ...info, id: base.id, commit: base.commit, files };
}
