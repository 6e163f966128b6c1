import { printable } from '../../../runtime/core/printable.js';
import { type StoredTensor, WeightsError } from '../../../runtime/weights/index.js';
import { LLAMA_REMEDY } from './facts.js';
import type { GgufRepository } from './open-gguf.js';

/** What scores, which tasks without scores leave out. */
const HEAD = /(?:^|\.)lm_head\.(?:weight|bias)$/;

/** Files of GGUF hold nothing that does not change answers. @throws WeightsError for a tensor that no graph reads */
export function requireUsed({ index, file }: GgufRepository, used: readonly StoredTensor[]): void {
  const read = new Set(used);
  for (const [name, tensor] of index)
    if (!read.has(tensor) && !HEAD.test(name))
      throw new WeightsError(file.path, {
        ...{ code: 'metadata', remedy: LLAMA_REMEDY },
        what: `has a tensor for ${printable(name)}, which its graphs do not read`,
      });
}
