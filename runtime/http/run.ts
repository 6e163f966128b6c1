import type { Request, RequestHandler, Response } from 'express';
import type { Usage } from '../core/usage.js';
import { type MediaLimits, type ResolveMedia, withMediaResolved } from '../media/resolve.js';
import { isMediaOutput } from '../core/media-output.js';
import { readBody, wantsRawMedia } from '../tasks/body.js';
import type { Resolved } from '../tasks/define.js';
import { type JsonBodyOptions, readJsonBody } from '../wire/json-body.js';
import { abortSignalOf } from '../wire/middleware.js';
import { asRunError, sendEnvelope, sendMedia } from '../wire/respond.js';
import { inTurns } from '../wire/turns.js';
import type { ModelService } from './service.js';
import { createStreamWriter } from './text-stream.js';
import { setUsageHeaders } from './usage.js';

export interface RunDependencies {
  service: ModelService;
  resolveMedia: ResolveMedia;
  body: JsonBodyOptions;
}

/** POST /run: reads the body, checks it against the schema, fetches media, runs the model, sends envelope or stream. */
export function runHandler(dependencies: RunDependencies): RequestHandler {
  const { service } = dependencies;
  return async (request, response) => {
    const signal = abortSignalOf(response);
    const { resolved, stream, raw } = await inputOf(request, response, { ...dependencies, signal });
    if (stream) return streamed(request, response, (told) => service.run(resolved, { signal, ...told }));
    const onUsage = (usage: Usage) => setUsageHeaders(response, usage);
    const output = await service.run(resolved, { signal, onUsage });
    if (isMediaOutput(output)) return sendMedia(response, output, { raw });
    sendEnvelope(response, 200, { error: null, output });
  };
}

/** A separate function, so that an image's Base64 text can be garbage-collected after decoding. */
async function inputOf(
  request: Request,
  response: Response,
  { service, resolveMedia, body, signal }: RunDependencies & { signal: AbortSignal },
): Promise<{ resolved: Resolved<unknown>; stream: boolean; raw: boolean }> {
  const { spec, task } = service;
  const { json, media, release } = await readJsonBody(request, response, {
    ...body,
    mediaApart: task.profile !== 'text',
  });
  const read = readBody(spec.task, task, json);
  const { input, stream } = read;
  const hold = body.budget.open(response);
  const work: MediaLimits = { signal, media, onBytes: hold, inTurns: (each) => inTurns(response, each) };
  const resolved = await withMediaResolved(input, (source) => resolveMedia(source, work));
  if (resolved.media || media.size > 0) release();
  return { resolved, stream, raw: wantsRawMedia(read, clientOf(request)) };
}

async function streamed(
  request: Request,
  response: Response,
  run: (told: { onDelta(text: string): void; onUsage(usage: Usage): void }) => Promise<unknown>,
): Promise<void> {
  const writer = createStreamWriter(request, response);
  let output: unknown;
  let usage: Usage | undefined;
  try {
    output = await run({
      onDelta: (text) => writer.write(text),
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
