import { setMaxListeners } from 'node:events';
import type { Delta } from '../core/delta.js';
import { RunError, toWireError } from '../core/errors.js';
import { takeRowCounts } from '../engines/batching/row-counts.js';
import { graphRuns } from '../engines/sessions/graph-runs.js';
import { loadHandle, openTokenizer, placementOf } from '../engines/index.js';
import type { TokenizerRequest } from '../core/handles/index.js';
import type { LayerPlacement } from '../core/placement.js';
import type { ReadProgress } from '../core/read-progress.js';
import type { Progress } from '../core/progress.js';
import type { ToolSupport } from '../core/tools.js';
import type { Usage } from '../core/usage.js';
import type { LoadRequest } from '../core/load-request.js';
import { collectGarbage } from '../memory.js';
import type { AnyTask, EngineBinding, Resolved, RunContext } from '../tasks/define.js';
import { taskOf } from '../tasks/registry.js';
import { goldenInput } from './golden.js';
import type { FromEngine, LoadPhase, ToEngine } from './protocol.js';

/** Time between two reports of the number of graph runs. */
const REPORT_RUNS_MS = 200;

export interface EngineHost {
  /** Handles a message of the parent. Never throws; failures are sent back as messages. */
  receive(message: ToEngine): void;
}

interface Loaded {
  example: Record<string, unknown> | undefined;
  tools: ToolSupport | undefined;
  placement: LayerPlacement | undefined;
  run(
    input: Resolved<unknown>,
    context: RunContext,
  ): Promise<unknown> | AsyncGenerator<string | Delta, unknown>;
}

/**
 * The engine's side of the protocol, independent of processes: loads one model and runs requests on it, many
 * concurrently.
 */
export function createEngineHost(send: (message: FromEngine) => void): EngineHost {
  const running = new Map<number, AbortController>();
  let loaded: Loaded | undefined;

  function startReportingRuns(): void {
    let reported = 0;
    const report = () => {
      const counts = takeRowCounts();
      if (counts.length > 0) send({ type: 'rows', counts });
      if (graphRuns() !== reported) send({ type: 'runs', runs: (reported = graphRuns()) });
    };
    setInterval(report, REPORT_RUNS_MS).unref();
  }

  async function load(request: LoadRequest): Promise<void> {
    startReportingRuns();
    try {
      const started = performance.now();
      const task = taskOf(request.spec.task);
      let phase: LoadPhase | 'ready' = 'opening';
      const onRead = (read: ReadProgress) => {
        if (phase !== 'ready') send({ type: 'progress', phase, read });
      };
      loaded = await bind(task, { ...request, mayGrow: true, onRead });
      const loadMs = Math.round(performance.now() - started);
      phase = 'warming_up';
      send({ type: 'progress', phase });
      const golden = goldenInput(task, { example: loaded.example, engine: request.spec.engine });
      const alone = { signal: new AbortController().signal, count: () => {}, tell: () => {} };
      await collect(loaded.run(golden, alone), () => {});
      const goldenMs = Math.round(performance.now() - started) - loadMs;
      phase = 'ready';
      send({
        type: 'ready',
        loadMs,
        goldenMs,
        example: loaded.example,
        tools: loaded.tools,
        placement: loaded.placement,
      });
      collectGarbage();
    } catch (error) {
      send({ type: 'load_failed', error: toWireError(loadFailure(error, request)) });
    }
  }

  async function run({ id, input, deltas }: Extract<ToEngine, { type: 'run' }>): Promise<void> {
    const controller = new AbortController();
    // Every row of a request adds a listener.
    setMaxListeners(0, controller.signal);
    running.set(id, controller);
    try {
      if (!loaded) throw new RunError('not_ready', 'the model is not loaded');
      let usage: Usage | undefined;
      const count = (counted: Usage) => (usage = counted);
      const tell = (progress: Progress) => send({ type: 'step', id, progress });
      const outcome = loaded.run(input, { signal: controller.signal, count, tell });
      // Sent only on request, since each message is a system call.
      const onDelta = deltas ? (delta: Delta) => send({ type: 'delta', id, delta }) : () => {};
      const output = await collect(outcome, onDelta);
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

/** Why a model is not ready: for the caller, with what to do. */
function loadFailure(error: unknown, { spec }: LoadRequest): RunError {
  if (!(error instanceof RunError))
    return new RunError('not_ready', "the model can't be opened", { cause: error });
  if (error.reason !== 'not_finite') return error;
  return new RunError(
    'not_ready',
    "the model's answer to its own example is not finite (NaN or Infinity): its weights are damaged, or numbers overflow " +
      `at dtype ${spec.dtype}; download the weights again, or take another dtype`,
    { reason: error.reason },
  );
}

/** Loads the head that the task needs, with the engine that the spec names. */
async function bind(task: AnyTask, request: LoadRequest): Promise<Loaded> {
  const { engine, task: id } = request.spec;
  // Each binding matches its handle type, but TypeScript can't check that across the registry.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  const binding = task.engines[engine] as EngineBinding<any, any, any> | undefined;
  if (!binding) throw new RunError('not_ready', `task ${id} has no engine ${engine} in this version`);
  const handle = await loadHandle(binding.head, request);
  const tokenize = await openTokenizer(request);
  const placement = await placementOf(request);
  return {
    example: binding.example?.(handle),
    tools: binding.tools?.(handle),
    placement,
    run(input, context) {
      const { tokenizer, voices } = input as { tokenizer?: TokenizerRequest; voices?: true };
      if (tokenizer) return tokenize(tokenizer, context.signal);
      if (voices) return Promise.resolve({ voices: binding.voices?.(handle) ?? [] });
      return binding.run(handle, input, context);
    },
  };
}

/** Runs a task to its end; pieces of the answer go to `onDelta`. */
async function collect(
  outcome: Promise<unknown> | AsyncGenerator<string | Delta, unknown>,
  onDelta: (delta: Delta) => void,
): Promise<unknown> {
  if (!(Symbol.asyncIterator in outcome)) return outcome;
  for (;;) {
    const next = await outcome.next();
    if (next.done) return next.value;
    onDelta(typeof next.value === 'string' ? { text: next.value } : next.value);
  }
}
