import type { Head } from '../../../runtime/core/handles/index.js';
import type { BaseModel, ModelInfo } from '../../../runtime/core/spec.js';
import { familyOf } from '../../../runtime/models/registry.js';
import type { ModelSource } from '../../../runtime/store/source.js';
import { type Layers, layeredFiles } from './layers.js';

/** What makes a network, without other formats and texts about it. */
const NETWORK = /^(?:config\.json|(?:model|pytorch_model)\b[^/]*\.(?:safetensors|bin|json))$/;

/**
 * The repository of a network that a model needs beside its own and does not hold, as a folder of the model's: the one that
 * Python takes, pinned to a commit. Undefined where nothing is lacking, and for exports, which hold it.
 * @param bases where such repositories come from
 * @throws StoreError when a source fails
 */
export async function findBeside(
  { source, info }: { source: ModelSource; info: ModelInfo },
  bases: ModelSource,
  { modelType, head }: { modelType: string | undefined; head: Head },
): Promise<Layers | undefined> {
  const has = (path: string) => info.files.some((file) => file.path === path);
  const wanted = familyOf(modelType)?.networksBeside?.[head] ?? [];
  const lacking = wanted.find(({ folder }) => !has(`${folder}/config.json`));
  if (!lacking || info.files.some(({ path }) => path.endsWith('.onnx'))) return undefined;
  const { folder, usual } = lacking;
  const found = await bases.info(usual);
  const files = found.files
    .filter(({ path }) => NETWORK.test(path))
    .map((file) => ({ ...file, path: `${folder}/${file.path}` }));
  const { id, revision, commit } = found;
  const base: BaseModel = { id, revision, commit, folder, files: files.map(({ path }) => path).sort() };
  const all = [...info.files, ...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    source: { ...source, ...layeredFiles(source, bases, base) },
    info: { ...info, files: all },
    base,
  };
}
