import type { LoadRequest } from '../../core/load-request.js';
import type { ModelReaders } from '../../core/readers.js';
import { engineOf } from '../../core/engines.js';
import { readOptionalModelConfig } from './model-config.js';

/**
 * The request with what its model.json says of readers. Of one that an older builder wrote (until 2027), they are taken from the family,
 * which is imported for that alone.
 */
export async function withReaders(request: LoadRequest): Promise<LoadRequest> {
  const { spec, dir } = request;
  if (spec.readers || engineOf(spec.engine).runtime !== 'onnx') return request;
  const { readersOf } = await import('../../models/readers.js');
  const readers = readersOf((await readOptionalModelConfig(dir)) ?? {});
  return { ...request, spec: { ...spec, readers } };
}

/** What model.json says; nothing where it is of no model that has a configuration. */
export const readersIn = ({ spec }: Pick<LoadRequest, 'spec'>): ModelReaders => spec.readers ?? {};
