import type { Delta } from '../core/delta.js';
import type { Usage } from '../core/usage.js';
import { countingBody } from '../dialects/ask.js';
import type { AnswerPiece, DialectHost } from '../dialects/host.js';
import { type MediaLimits, withMediaResolved } from '../media/resolve.js';
import { readBody } from '../tasks/body.js';
import type { Resolved } from '../tasks/define.js';
import { abortSignalOf } from '../wire/middleware.js';
import { inTurns } from '../wire/turns.js';
import { followSteps } from './follow-steps.js';
import type { RunDependencies } from './run.js';

/** The one model of this server, for dialects. */
export function containerHost({ service, resolveMedia, body, logger }: RunDependencies): DialectHost {
  const model = { modelId: service.spec.id, task: service.spec.task };
  return {
    base: '',
    models: () => [model],
    find: () => model,
    ready: () => service.status().state === 'ready',
    runPath: () => '/run',
    bodyOptions: () => body,
    async withModel({ bodies, files }, response, use) {
      for (const one of bodies) readBody(model.task, service.task, one);
      response.locals['ranModel'] = true;
      const signal = abortSignalOf(response);
      const onStep = followSteps(response, logger);
      const hold = body.budget.open(response);
      const resolve = (one: Record<string, unknown>, signal: AbortSignal): Promise<Resolved<unknown>> => {
        const { input } = readBody(model.task, service.task, one);
        const inTurnsHere: MediaLimits['inTurns'] = (each) => inTurns(response, each);
        const work = { signal, files, onBytes: hold, inTurns: inTurnsHere };
        return withMediaResolved(input, (source) => resolveMedia(source, work));
      };
      await use({
        signal,
        headers: () => ({}),
        async ask(one, signal) {
          let usage: Usage | undefined;
          const onUsage = (told: Usage) => (usage = told);
          const output = await service.run(await resolve(one, signal), { signal, onStep, onUsage });
          return { output, usage };
        },
        async countTokens(one) {
          let usage: Usage | undefined;
          const onUsage = (told: Usage) => (usage = told);
          await service.run(await resolve(countingBody(one), signal), { signal, onUsage });
          return usage?.tokensIn ?? 0;
        },
        async stream(one) {
          const resolved = await resolve({ ...one, stream: true }, signal);
          return begun((onDelta) => {
            let usage: Usage | undefined;
            const onUsage = (told: Usage) => (usage = told);
            return service.run(resolved, { signal, onStep, onDelta, onUsage }).then(() => ({ usage }));
          });
        },
      });
    },
    count: () => {},
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
