import koffi from 'koffi';
import type { BatchToken } from '../llama.js';

export interface NativeBatch {
  /** The struct that a call takes. */
  fill(tokens: readonly BatchToken[]): Record<string, unknown>;
  free(): void;
}

const [POINTER_BYTES, INT_BYTES] = [8, 4];

/** Memory for runs of at most so many tokens, each in one row. */
export function createNativeBatch(most: number): NativeBatch {
  const ints = () => koffi.alloc('int32', most) as unknown as bigint;
  const [token, pos, counts, rows] = [ints(), ints(), ints(), ints()];
  const lists = koffi.alloc('void *', most) as unknown as bigint;
  const logits = koffi.alloc('int8', most) as unknown as bigint;
  const intsAt = (address: bigint) => new Int32Array(koffi.view(address, most * INT_BYTES));
  const [ids, positions, rowIds] = [intsAt(token), intsAt(pos), intsAt(rows)];
  const outputs = new Int8Array(koffi.view(logits, most));
  intsAt(counts).fill(1);
  // Each token's list of rows is the one place in `rows`.
  const pointers = new BigUint64Array(koffi.view(lists, most * POINTER_BYTES));
  for (let i = 0; i < most; i++) pointers[i] = rows + BigInt(i * INT_BYTES);
  return {
    fill(tokens) {
      tokens.forEach(({ id, position, row, output }, i) => {
        ids[i] = id;
        positions[i] = position;
        rowIds[i] = row;
        outputs[i] = Number(output);
      });
      const n_tokens = tokens.length;
      return { n_tokens, token, embd: null, pos, n_seq_id: counts, seq_id: lists, logits };
    },
    free() {
      for (const address of [token, pos, counts, rows, lists, logits]) koffi.free(address);
    },
  };
}
