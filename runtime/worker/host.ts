import { setMaxListeners } from 'node:events';
import { RunError, toWireError } from '../core/errors.js';
import { graphRuns } from '../engines/sessions/graph-runs.js';
import { loadHandle } from '../engines/index.js';
import type { Usage } from '../core/usage.js';
import type { LoadRequest } from '../core/load-request.js';
import { collectGarbage } from '../memory.js';
import type { AnyTask, EngineBinding, Resolved, RunContext } from '../tasks/define.js';
import { taskOf } from '../tasks/registry.js';
import { goldenInput } from './golden.js';
import type { FromEngine, ToEngine } from './protocol.js';

/** Between two looks at the number of runs. */
const TELL_RUNS_MS = 200;

export interface EngineHost {
  /** Takes a message from the parent. Never throws: failures go back as messages. */
  receive(message: ToEngine): void;
}

interface Loaded {
  example: Record<string, unknown> | undefined;
  run(input: Resolved<unknown>, context: RunContext): Promise<unknown> | AsyncGenerator<string, unknown>;
}

/**
 * The engine side of the protocol, without a process around it: loads one model and runs requests on it, many at a
 * time as far as the model's steps interleave.
 */
export function createEngineHost(send: (message: FromEngine) => void): EngineHost {
  const running = new Map<number, AbortController>();
  let loaded: Loaded | undefined;

  function tellRuns(): void {
    let told = 0;
    const tell = () => {
      if (graphRuns() !== told) send({ type: 'runs', runs: (told = graphRuns()) });
    };
    setInterval(tell, TELL_RUNS_MS).unref();
  }

  async function load(request: LoadRequest): Promise<void> {
    tellRuns();
    try {
      const started = performance.now();
      const task = taskOf(request.spec.task);
      loaded = await bind(task, request);
      const loadMs = Math.round(performance.now() - started);
      send({ type: 'progress', phase: 'warming_up' });
      const golden = goldenInput(task, loaded.example);
      await collect(loaded.run(golden, { signal: new AbortController().signal, count: () => {} }), () => {});
      const goldenMs = Math.round(performance.now() - started) - loadMs;
      send({ type: 'ready', loadMs, goldenMs, example: loaded.example });
      collectGarbage();
    } catch (error) {
      const plain = error instanceof RunError;
      const failure = plain
        ? error
        : new RunError('not_ready', "the model can't be opened", { cause: error });
      send({ type: 'load_failed', error: toWireError(failure) });
    }
  }

  async function run({ id, input, deltas }: Extract<ToEngine, { type: 'run' }>): Promise<void> {
    const controller = new AbortController();
    // Every row of a request listens; there are as many as the engine has under way.
    setMaxListeners(0, controller.signal);
    running.set(id, controller);
    try {
      if (!loaded) throw new RunError('not_ready', 'the model is not loaded');
      let usage: Usage | undefined;
      const count = (told: Usage) => (usage = told);
      const outcome = loaded.run(input, { signal: controller.signal, count });
      // A message that nobody reads would still be a system call for each token.
      const say = deltas ? (text: string) => send({ type: 'delta', id, text }) : () => {};
      const output = await collect(outcome, say);
      send({ type: 'done', id, output, usage });
    } catch (error) {
      const cancelled = controller.signal.aborted && !(error instanceof RunError);
      send({
        type: 'failed',
        id,
        error: toWireError(cancelled ? new RunError('cancelled', 'cancelled') : error),
      });
    } finally {
      running.delete(id);
    }
  }

  return {
    receive(message) {
      if (message.type === 'load') void load(message.request);
      else if (message.type === 'run') void run(message);
      else if (message.type === 'cancel') running.get(message.id)?.abort();
    },
  };
}

/** Loads the head that the task needs on the engine that the spec chose. */
async function bind(task: AnyTask, request: LoadRequest): Promise<Loaded> {
  const { engine, task: id } = request.spec;
  // The registry pairs each binding with its own handle type; across all rows TypeScript can't see that.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  const binding = task.engines[engine] as EngineBinding<any, any, any> | undefined;
  if (!binding) throw new RunError('not_ready', `task ${id} has no engine ${engine} in this version`);
  const handle = await loadHandle(binding.head, request);
  return {
    example: binding.example?.(handle),
    run: (input, context) => binding.run(handle, input, context),
  };
}

/** Runs a task body to its end; streamed text goes to `onText`. */
async function collect(
  outcome: Promise<unknown> | AsyncGenerator<string, unknown>,
  onText: (text: string) => void,
): Promise<unknown> {
  if (!(Symbol.asyncIterator in outcome)) return outcome;
  for (;;) {
    const next = await outcome.next();
    if (next.done) return next.value;
    onText(next.value);
  }
}
