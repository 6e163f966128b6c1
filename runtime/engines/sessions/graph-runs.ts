import type { InferenceSession } from 'onnxruntime-node';

let runs = 0;

/** Runs of graphs that this process has begun, on whatever thread: what it computes, without regard to for whom. */
export const graphRuns = (): number => runs;

export function countRun(): void {
  runs++;
}

/** Counts the session's runs. */
export function countRuns(session: InferenceSession): InferenceSession {
  const run = session.run.bind(session) as (...args: unknown[]) => ReturnType<typeof session.run>;
  session.run = (...args: unknown[]) => {
    countRun();
    return run(...args);
  };
  return session;
}
