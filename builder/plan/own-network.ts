import type { Dtype, ModelInfo } from '../../runtime/core/spec.js';
import type { Head } from '../../runtime/core/handles/index.js';
import type { PackedLevel } from '../../runtime/models/writer/packed-format.js';
import { normalizeConfig } from '../../runtime/hub-config/normalize.js';
import { type ModelSource, rangesOf } from '../../runtime/store/source.js';
import { readWeightIndex, type WeightFile, type WeightIndex } from '../../runtime/weights/index.js';
import { type FoundAdapter, mergeIndex, type MergedIndex } from './adapter/index.js';
import { requireRead } from './config/require-read.js';
import { parseObject } from './facts.js';
import type { GgufRepository } from './gguf/open-gguf.js';
import type { FoundNetwork, NetworkPlace, Pipeline } from './pipeline-networks.js';
import { QuantizedError, withQuantization } from './quantized.js';
import { quantizedIndex } from './quantized-index.js';

export interface OwnRequest {
  source: ModelSource;
  info: ModelInfo;
  head: Head;
  modelType: string | undefined;
  /** For a repository of diffusers, which has several networks. */
  pipeline?: Pipeline | undefined;
  /** Asked for: checkpoints may come in several types. */
  dtype?: Dtype | undefined;
  /** Pack matrices to so many bits; the weights as they are if absent. */
  bits?: PackedLevel | undefined;
  /** What they may take for a weight of a matrix on average; that of the level if absent. */
  budget?: number | undefined;
  /** What is merged into the weights. */
  adapter?: FoundAdapter | undefined;
  /** Weights in a file of GGUF. */
  gguf?: GgufRepository | undefined;
  /** Fields of config.json that the operator wants ignored where nothing reads them. */
  ignoreConfig?: readonly string[] | undefined;
}

/** The only network of a model. */
export const MODEL = { folder: '', config: 'config.json' };

/** A network whose headers have been read. */
export interface Network extends NetworkPlace {
  /** Its checkpoint, or the index of its shards. */
  file: WeightFile;
  /** What its configuration says. */
  settings: Record<string, unknown>;
  index: WeightIndex;
  head: Head;
  merged?: MergedIndex | undefined;
  /** Fields that nothing reads and that the operator had ignored. */
  ignored: string[];
  /** The method that its matrices are packed by. */
  packed?: { method: string; bits: 4 | 8 | undefined } | undefined;
}

export async function readNetwork(
  found: FoundNetwork,
  { source, info, head, adapter, ignoreConfig }: OwnRequest,
): Promise<Network> {
  const files = rangesOf(source, info);
  const [text, index, additions] = await Promise.all([
    source.readText(info, found.config),
    readWeightIndex(files, found),
    adapter && !adapter.inGguf ? readWeightIndex(files, { stem: 'adapter_model' }) : undefined,
  ]);
  const given = normalizeConfig(parseObject(found.config, text));
  const ignored = requireRead(found.config, given, ignoreConfig);
  const settings = await withQuantization(given, async (path) =>
    info.files.some((file) => file.path === path)
      ? parseObject(path, await source.readText(info, path))
      : undefined,
  );
  const packed = quantizedIndex(index, settings);
  if (!adapter) return { ...found, settings, index: packed?.index ?? index, head, ignored, packed };
  if (packed) throw new QuantizedError(packed.method, 'no adapter can be merged into what is packed');
  const tensors = additions ?? adapter.inGguf!.tensors(settings);
  const toMerge = { id: info.id, settings: adapter.settings, adapter: tensors, index, config: settings };
  const merged = mergeIndex(toMerge);
  return { ...found, settings, index: merged.index, head, ignored, merged };
}

/** The network of a file of GGUF. */
export async function ggufNetwork(
  { index, file, bits }: GgufRepository,
  { source, info, head, ignoreConfig }: OwnRequest,
): Promise<Network> {
  const settings = normalizeConfig(parseObject(MODEL.config, await source.readText(info, MODEL.config)));
  const ignored = requireRead(MODEL.config, settings, ignoreConfig);
  return { ...MODEL, ...{ file, settings, index, head, ignored }, packed: { method: 'GGUF', bits } };
}
