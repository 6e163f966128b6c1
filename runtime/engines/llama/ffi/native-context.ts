import { RunError } from '../../../core/errors.js';
import type { BatchToken, ContextOptions, LlamaContext, RunOutcome } from '../llama.js';
import { type Bound, floatsAt, inBackground, type Pointer } from './bind.js';
import { createNativeBatch } from './native-batch.js';
import { createStopFlag } from './stop-flag.js';

/** Widths of what a run gives. */
interface Widths {
  /** Of scores: the vocabulary. */
  scores: number;
  /** Of vectors. */
  width: number;
  /** Of a classifying head. */
  classes: number;
}

/** What `llama_decode` returns, below 0 for errors. */
const OUTCOMES: Readonly<Record<number, RunOutcome>> = { 0: 'done', 1: 'full', 2: 'stopped' };

/** @param context that `close` frees */
export function createNativeContext(
  bound: Bound,
  context: Pointer,
  options: ContextOptions & Widths,
): LlamaContext {
  const { functions, log } = bound;
  // None for encoders, which remember nothing.
  const memory = functions.llama_get_memory(context) as Pointer;
  const batch = createNativeBatch(options.batch);
  const flag = createStopFlag(bound, context);
  const found = (address: unknown, count: number, what: string): Float32Array => {
    const floats = floatsAt(address as Pointer, count);
    if (floats) return floats;
    throw new RunError('engine_failed', `llama.cpp has no ${what} of this run`);
  };
  return {
    cells: functions.llama_n_ctx(context) as number,
    async run(tokens) {
      check(tokens, options);
      flag.clear();
      log.takeErrors();
      const code = await inBackground<number>(functions.llama_decode, context, batch.fill(tokens));
      const outcome = OUTCOMES[code];
      if (outcome) return outcome;
      throw new RunError('engine_failed', `llama.cpp refuses the run (${code})`, {
        cause: new Error(log.takeErrors().join('\n')),
      });
    },
    stop: flag.set,
    scores: (i) => found(functions.llama_get_logits_ith(context, i), options.scores, `scores of token ${i}`),
    vector: (i) =>
      found(functions.llama_get_embeddings_ith(context, i), options.width, `vector of token ${i}`),
    pooled(row) {
      const count = options.pooling === 'rank' ? options.classes : options.width;
      return found(functions.llama_get_embeddings_seq(context, row), count, `vector of row ${row}`);
    },
    copyRow(from, to, length = -1) {
      if (memory !== null) functions.llama_memory_seq_cp(memory, from, to, length < 0 ? -1 : 0, length);
    },
    cutRow: (row, from) =>
      memory === null || (functions.llama_memory_seq_rm(memory, row, from, -1) as boolean),
    setThreads: (threads) => functions.llama_set_n_threads(context, threads, threads),
    close() {
      functions.llama_free(context);
      batch.free();
      flag.free();
    },
  };
}

/** The library ends the process where a run is larger than the context was made for. */
function check(tokens: readonly BatchToken[], { batch, outputs, rows }: ContextOptions): void {
  const wanted = tokens.reduce((sum, { output }) => sum + Number(output), 0);
  const isRow = ({ row }: BatchToken) => row >= 0 && row < rows;
  if (tokens.length > 0 && tokens.length <= batch && wanted <= outputs && tokens.every(isRow)) return;
  throw new RunError(
    'engine_failed',
    `a run of ${tokens.length} tokens and ${wanted} outputs was not planned for`,
  );
}
