import type { Json } from '../../../repository/model-folder.js';
import { cacheShape } from '../../../repository/cache-shape.js';
import type { Port } from '../../../sessions/tensors.js';

const CACHE = /^past_key_values\.\d+\.(?:key|value)$/;

/** Caches of decoders that were exported to go on with a text: empty at its beginning. */
export function isCache(name: string): boolean {
  return CACHE.test(name);
}

/** The same ports, caches in the shape that the model's configuration gives them: [rows, heads, past, width]. */
export function withCacheShapes(inputs: readonly Port[], config: Json): Port[] {
  return inputs.map((port) => {
    if (!isCache(port.name)) return port;
    const [heads, width] = cacheShape(port, config);
    return { ...port, shape: ['rows', heads, 'past', width] };
  });
}

/** Tokens of every row, where the graph's shapes fix them. */
export function fixedWidth(inputs: readonly Port[]): number | undefined {
  return fixedSize(inputs, 1);
}

/** Rows of every run, where the graph's shapes fix them. */
export function fixedRows(inputs: readonly Port[]): number | undefined {
  return fixedSize(inputs, 0);
}

function fixedSize(inputs: readonly Port[], axis: 0 | 1): number | undefined {
  const size = inputs.find(({ name }) => name === 'input_ids')?.shape[axis];
  return typeof size === 'number' && size > 0 ? size : undefined;
}
