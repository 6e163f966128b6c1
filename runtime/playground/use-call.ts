import { useEffect, useRef, useState } from 'preact/hooks';
import type { Described, Json } from './api/describe.js';
import { type Answer, run, RunFailure } from './api/run.js';

/** The call of the page that is under way, or the last one. */
export interface Call {
  answer: Answer | undefined;
  failure: RunFailure | undefined;
  isRunning: boolean;
  /** What was sent. */
  sent: Record<string, Json> | undefined;
  /** The server has refused a call without a key. */
  needsKey: boolean;
  /** @returns the whole answer, or what had come of it when it was stopped; undefined when it failed */
  start(body: Record<string, Json>): Promise<Answer | undefined>;
  stop(): void;
}

/** One call at a time. What had come when it was stopped stays. */
export function useCall(described: Described, key: string): Call {
  const [answer, setAnswer] = useState<Answer>();
  const [failure, setFailure] = useState<RunFailure>();
  const [sent, setSent] = useState<Record<string, Json>>();
  const [running, setRunning] = useState<AbortController>();
  const [needsKey, setNeedsKey] = useState(false);
  const latest = useRef<AbortController>(undefined);
  useEffect(() => () => latest.current?.abort(), []);
  const start = async (body: Record<string, Json>) => {
    const controller = new AbortController();
    latest.current = controller;
    setRunning(controller);
    setSent(body);
    setFailure(undefined);
    setAnswer(undefined);
    let latestAnswer: Answer | undefined;
    const onProgress = (answer: Answer) => setAnswer((latestAnswer = answer));
    try {
      const { signal } = controller;
      const asEvents = described.streams || described.steps;
      const whole = await run(body, { at: described.run, key, asEvents, signal, onProgress });
      setAnswer(whole);
      return whole;
    } catch (error) {
      if (controller.signal.aborted) return latestAnswer;
      const known =
        error instanceof RunFailure ? error : new RunFailure((error as Error).message, 0, undefined);
      if (known.status === 401) setNeedsKey(true);
      setFailure(known);
      return undefined;
    } finally {
      setRunning(undefined);
    }
  };
  return {
    ...{ answer, failure, sent, needsKey, start },
    isRunning: running !== undefined,
    stop: () => running?.abort(),
  };
}
