import { describe } from '../../core/errors.js';
import { collectGarbage } from '../../memory.js';

/** What makes a model quicker that answers already; where it fails, the model stays as it is. */
export async function finishLater(later: readonly (() => Promise<void>)[]): Promise<void> {
  for (const work of later) {
    await work().catch((error: unknown) => {
      process.stderr.write(`the model stays as it was when it began to answer: ${describe(error)}\n`);
    });
  }
  collectGarbage();
}
