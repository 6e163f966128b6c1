import type { ModelInfo } from '../../../runtime/core/spec.js';
import type { ModelSource } from '../../../runtime/store/source.js';
import { parseObject } from '../facts.js';
import { Refusal } from '../refusal.js';
import type { GgufAdapter } from './gguf-adapter.js';
import { layered, type Layers } from './layers.js';
import { type LoraSettings, MERGE_REMEDY, readSettings } from './settings.js';

/** An adapter and its base. */
export interface FoundAdapter extends Layers {
  settings: LoraSettings;
  /** Its tensors in a file of GGUF; absent for one of peft. */
  inGguf?: GgufAdapter | undefined;
}

const CONFIG = 'adapter_config.json';

/**
 * The base of a repository that holds an adapter and no model, pinned to a commit; undefined for all others.
 * @param bases where base models come from @param gguf the adapter, where it is one in GGUF
 * @throws Refusal for an adapter that can't be merged; StoreError when a source fails
 */
export async function findBase(
  source: ModelSource,
  bases: ModelSource,
  info: ModelInfo,
  gguf?: GgufAdapter,
): Promise<FoundAdapter | undefined> {
  if (!gguf && !isAdapter(info)) return undefined;
  const settings =
    gguf?.settings ?? readSettings(info.id, parseObject(CONFIG, await source.readText(info, CONFIG)));
  const below = await bases.info(settings.base, settings.revision);
  if (isAdapter(below))
    throw new Refusal(`${info.id} is an adapter of ${below.id}, which is an adapter, too`, MERGE_REMEDY);
  const layers = layered({ source, info }, { source: bases, info: below }, gguf?.path);
  return { ...layers, settings, inGguf: gguf };
}

function isAdapter({ files }: ModelInfo): boolean {
  const isModel = (path: string) =>
    /(?:^|\/)(?:model|pytorch_model)\b.*\.(?:safetensors|bin|onnx)/.test(path) || path.endsWith('.onnx');
  return files.some(({ path }) => path === CONFIG) && !files.some(({ path }) => isModel(path));
}
