import type { Request, RequestHandler, Response } from 'express';
import type { ModerationFlags } from '../core/moderation.js';
import type { Usage } from '../core/usage.js';
import { type MediaLimits, type ResolveMedia, withMediaResolved } from '../media/resolve.js';
import { isMediaOutput } from '../core/media-output.js';
import { readBody, type RunRequest, wantsRawMedia } from '../tasks/body.js';
import type { Logger } from '../log.js';
import type { AnyTask, Resolved } from '../tasks/define.js';
import { type JsonBodyOptions, readJsonBody } from '../wire/json-body.js';
import { abortSignalOf } from '../wire/middleware.js';
import { asRunError, sendEnvelope, sendMedia } from '../wire/respond.js';
import { inTurns } from '../wire/turns.js';
import { followSteps } from './follow-steps.js';
import type { ModelService, RunCallbacks } from './service.js';
import { createEventWriter, createStreamWriter, prefersEvents, type StreamWriter } from './stream-writer.js';
import { setUsageHeaders } from '../wire/usage.js';

export interface RunDependencies {
  service: ModelService;
  resolveMedia: ResolveMedia;
  body: JsonBodyOptions;
  logger: Logger;
  /** Which labels flag a text (MODERATION_FLAGS). */
  moderation?: ModerationFlags | undefined;
}

/** POST /run: reads the body, checks it against the schema, fetches media, runs the model, sends envelope or stream. */
export function runHandler(dependencies: RunDependencies): RequestHandler {
  const { service, logger } = dependencies;
  return async (request, response) => {
    const signal = abortSignalOf(response);
    const { resolved, form } = await inputOf(request, response, { ...dependencies, signal });
    const follow = followSteps(response, logger);
    if (form === 'stream' || form === 'events') {
      const writer = form === 'stream' ? createStreamWriter(request, response) : createEventWriter(response);
      return streamed(response, writer, ({ onStep, ...told }) =>
        service.run(resolved, {
          signal,
          ...told,
          onStep: (progress) => (follow(progress), onStep(progress)),
        }),
      );
    }
    const onUsage = (usage: Usage) => setUsageHeaders(response, usage);
    const output = await service.run(resolved, { signal, onStep: follow, onUsage });
    if (isMediaOutput(output)) return sendMedia(response, output, { raw: form === 'raw' });
    sendEnvelope(response, 200, { error: null, output });
  };
}

/** A separate function, so that an image's Base64 text can be garbage-collected after decoding. */
async function inputOf(
  request: Request,
  response: Response,
  { service, resolveMedia, body, signal }: RunDependencies & { signal: AbortSignal },
): Promise<{ resolved: Resolved<unknown>; form: AnswerForm }> {
  const { spec, task } = service;
  const { json, media, release } = await readJsonBody(request, response, {
    ...body,
    mediaApart: task.profile !== 'text',
    pythonNumbers: task.modality === 'messages',
  });
  const read = readBody(spec.task, task, json);
  const { input } = read;
  const hold = body.budget.open(response);
  const work: MediaLimits = { signal, media, onBytes: hold, inTurns: (each) => inTurns(response, each) };
  const resolved = await withMediaResolved(input, (source) => resolveMedia(source, work));
  if (resolved.media || media.size > 0) release();
  return { resolved, form: formOf(request, task, read) };
}

/** How an answer is sent: a stream of text, events of the steps with the answer at their end, a medium as it is, the envelope. */
type AnswerForm = 'stream' | 'events' | 'raw' | 'envelope';

function formOf(request: Request, task: AnyTask, read: RunRequest): AnswerForm {
  if (read.stream) return 'stream';
  if (task.tellsSteps && read.asked.stream && prefersEvents(request, 'application/json')) return 'events';
  return wantsRawMedia(read, clientOf(request)) ? 'raw' : 'envelope';
}

async function streamed(
  response: Response,
  writer: StreamWriter,
  run: (told: Required<RunCallbacks>) => Promise<unknown>,
): Promise<void> {
  let output: unknown;
  let usage: Usage | undefined;
  try {
    output = await run({
      onDelta: (delta) => writer.write(delta),
      onStep: (progress) => writer.step(progress),
      onUsage: (told) => (usage = told),
    });
  } catch (error) {
    // Before the first chunk, the error is sent as a normal answer.
    if (response.headersSent) writer.fail(asRunError(error));
    throw error;
  }
  writer.end(output, usage);
}

/** What the published clients call themselves. */
function clientOf({ headers: { lang } }: Request): string | undefined {
  return typeof lang === 'string' ? lang : undefined;
}
