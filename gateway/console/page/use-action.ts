import { useState } from 'preact/hooks';

/** Something that is under way, and why it failed the last time. */
export interface Action {
  isBusy: boolean;
  problem: string | undefined;
  run(work: () => Promise<unknown>): Promise<void>;
}

export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const run = async (work: () => Promise<unknown>) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await work();
    } catch (error) {
      setProblem((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, run };
}
