import { posix } from 'node:path';
import type { ModelInfo } from '../../../runtime/core/spec.js';
import { type GgufModel, readGgufModel } from '../../../runtime/gguf/index.js';
import type { GgufVariant } from '../../../runtime/store/choose-gguf.js';
import { rangesOf } from '../../../runtime/store/source.js';
import { WeightsError } from '../../../runtime/weights/index.js';
import { ggufAdapter, type GgufAdapter, isGgufAdapter } from '../adapter/index.js';
import type { PlanRequest } from '../model-plan.js';
import { Refusal } from '../refusal.js';

/**
 * The adapter of a repository whose only files of GGUF are adapters by their names.
 * @throws Refusal for one that is not merged here; StoreError when the source fails
 */
export async function findAdapter(
  request: PlanRequest,
  info: ModelInfo,
  variants: readonly GgufVariant[],
): Promise<GgufAdapter | undefined> {
  const files = variants.filter(({ role }) => role === 'model' || role === 'adapter');
  if (files.length === 0 || files.some(({ role }) => role === 'model')) return undefined;
  const { path } = chosen(info.id, files, request.file);
  const model = await refused(info.id, () => readGgufModel(rangesOf(request.source, info), path));
  const found = await adapterIn(request, info, model);
  if (found) return found;
  throw new Refusal(`${info.id}: ${path} is named as an adapter, and is a model`, 'give it another name');
}

/** What a file is, if it is an adapter, whatever its name. @throws Refusal for one that is not merged here */
export async function adapterIn(
  { engine: asked }: Pick<PlanRequest, 'engine'>,
  { id }: Pick<ModelInfo, 'id'>,
  model: GgufModel,
): Promise<GgufAdapter | undefined> {
  if (!isGgufAdapter(model)) return undefined;
  if (asked === 'llama')
    throw new Refusal(
      `${id}: ${model.files[0]!} is an adapter, which is merged into graphs of ours`,
      'leave out --engine llama',
    );
  return refused(id, async () => ggufAdapter(model));
}

async function refused<T>(id: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof WeightsError) throw new Refusal(`${id}: ${error.message}`);
    throw error;
  }
}

function chosen(id: string, files: readonly GgufVariant[], wanted: string | undefined): GgufVariant {
  const isWanted = ({ path, label }: GgufVariant) =>
    wanted === undefined || [path, posix.basename(path), label].includes(wanted);
  const found = files.filter(isWanted);
  if (found.length === 1) return found[0]!;
  if (files.length === 1) return files[0]!;
  throw new Refusal(
    `${id} has ${found.length === 0 ? 'no such adapter' : 'several adapters'} in GGUF`,
    `give one of ${files.map(({ path }) => path).join(', ')} with --file`,
  );
}
