import type { BatchToken, LlamaContext, RunOutcome } from './llama.js';

/** A context whose rows are changed between runs only: runs are on another thread, and the library locks nothing. */
export interface SerialContext extends Pick<LlamaContext, 'cells' | 'scores' | 'vector' | 'pooled' | 'stop'> {
  run(tokens: readonly BatchToken[]): Promise<RunOutcome>;
  /** At once, or before the next run where one is under way. In the order in which they were asked for. */
  copyRow(from: number, to: number, length?: number): void;
  emptyRow(row: number): void;
}

export function createSerialContext(context: LlamaContext): SerialContext {
  let running = false;
  let waiting: (() => void)[] = [];

  function change(work: () => void): void {
    if (running) waiting.push(work);
    else work();
  }

  return {
    cells: context.cells,
    scores: context.scores,
    vector: context.vector,
    pooled: context.pooled,
    stop: context.stop,
    async run(tokens) {
      running = true;
      try {
        return await context.run(tokens);
      } finally {
        running = false;
        const changes = waiting;
        waiting = [];
        for (const work of changes) work();
      }
    },
    copyRow: (from, to, length) => change(() => context.copyRow(from, to, length)),
    emptyRow: (row) => change(() => void context.cutRow(row, 0)),
  };
}
