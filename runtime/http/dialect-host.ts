import type { Response } from 'express';
import type { Delta } from '../core/delta.js';
import type { Usage } from '../core/usage.js';
import type { AnswerPiece, AskedModel, DialectHost } from '../dialects/host.js';
import { type MediaLimits, withMediaResolved } from '../media/resolve.js';
import { readBody } from '../tasks/body.js';
import type { Resolved } from '../tasks/define.js';
import { abortSignalOf } from '../wire/middleware.js';
import { inTurns } from '../wire/turns.js';
import { followSteps } from './follow-steps.js';
import type { RunDependencies } from './run.js';
import type { RunCallbacks } from './service.js';

type Body = Record<string, unknown>;

/** The one model of this server, for dialects. */
export function containerHost(dependencies: RunDependencies): DialectHost {
  const { service, body, moderation } = dependencies;
  const model = { modelId: service.spec.id, task: service.spec.task, moderation };
  const inputOf = (given: Body) => readBody(model.task, service.task, given).input;
  return {
    base: '',
    models: () => [model],
    find: () => model,
    ready: () => service.status().state === 'ready',
    runPath: () => '/run',
    bodyOptions: () => body,
    async withModel({ bodies, files }, response, use) {
      // Checked here, before anything is fetched, and not again when they are asked.
      const checked = new Map(bodies.map((one) => [one, inputOf(one)]));
      response.locals['ranModel'] = true;
      const read = (one: Body) => checked.get(one) ?? inputOf(one);
      await use(askedOf(dependencies, response, { read, files }));
    },
    count: () => {},
  };
}

interface Reading {
  /** Input of a body. @throws RunError 400 */
  read(body: Body): Record<string, unknown>;
  files: MediaLimits['files'];
}

function askedOf(dependencies: RunDependencies, response: Response, { read, files }: Reading): AskedModel {
  const { service, resolveMedia, body, logger } = dependencies;
  const signal = abortSignalOf(response);
  const onStep = followSteps(response, logger);
  const onBytes = body.budget.open(response);
  const resolve = (one: Body, signal: AbortSignal): Promise<Resolved<unknown>> =>
    withMediaResolved(read(one), (source) =>
      resolveMedia(source, { signal, files, onBytes, inTurns: (each) => inTurns(response, each) }),
    );
  const run = async (
    input: Resolved<unknown>,
    told: Omit<RunCallbacks, 'onUsage'> & { signal: AbortSignal },
  ) => {
    let usage: Usage | undefined;
    const output = await service.run(input, { onStep, ...told, onUsage: (counted) => (usage = counted) });
    return { output, usage };
  };
  return {
    signal,
    headers: () => ({}),
    ask: async (one, signal) => run(await resolve(one, signal), { signal }),
    async stream(one) {
      const input = await resolve({ ...one, stream: true }, signal);
      return begun(async (onDelta) => {
        const { usage } = await run(input, { signal, onDelta });
        return { usage };
      });
    },
  };
}

/**
 * The pieces of an answer, as they come.
 * @returns when the first piece has come; rejects if there is none because the work fails
 */
async function begun(
  work: (onDelta: (piece: Delta) => void) => Promise<AnswerPiece>,
): Promise<AsyncIterable<AnswerPiece>> {
  const waiting: AnswerPiece[] = [];
  let wake: () => void = () => {};
  let ended = false;
  let failure: unknown;
  const put = (piece: AnswerPiece) => {
    waiting.push(piece);
    wake();
  };
  work(put)
    .then(put, (error: unknown) => (failure = error))
    .finally(() => {
      ended = true;
      wake();
    });
  const more = () => new Promise<void>((resolve) => (wake = resolve));
  if (waiting.length === 0) await more();
  if (failure !== undefined && waiting.length === 0) throw failure;
  return (async function* () {
    for (;;) {
      yield* waiting.splice(0);
      if (waiting.length > 0) continue;
      if (failure !== undefined) throw failure;
      if (ended) return;
      await more();
    }
  })();
}
