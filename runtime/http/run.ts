import type { Request, RequestHandler, Response } from 'express';
import { type ResolveMedia, withMediaResolved } from '../media/resolve.js';
import { readBody } from '../tasks/body.js';
import type { ByteBudget } from '../wire/byte-budget.js';
import { gone } from '../wire/plumbing.js';
import { asRunError, sendEnvelope } from '../wire/respond.js';
import type { ModelService } from './service.js';
import { createStreamWriter } from './text-stream.js';

export interface RunDependencies {
  service: ModelService;
  resolveMedia: ResolveMedia;
  budget: ByteBudget;
}

/** POST /run: body -> schema -> media -> the model -> envelope or text stream. */
export function runHandler({ service, resolveMedia, budget }: RunDependencies): RequestHandler {
  const { spec, task } = service;
  return async (request, response) => {
    const { input, stream } = readBody(spec.task, task, request.body);
    const signal = gone(response);
    const hold = budget.open(response);
    const resolved = await withMediaResolved(input, (source) => resolveMedia(source, signal, hold));
    if (stream) return streamed(request, response, (onDelta) => service.run(resolved, { signal, onDelta }));
    sendEnvelope(response, 200, { error: null, output: await service.run(resolved, { signal }) });
  };
}

async function streamed(
  request: Request,
  response: Response,
  run: (onDelta: (text: string) => void) => Promise<unknown>,
): Promise<void> {
  const writer = createStreamWriter(request, response);
  let output: unknown;
  try {
    output = await run((text) => writer.write(text));
  } catch (error) {
    // Before the first piece this is an ordinary error answer.
    if (response.headersSent) writer.fail(asRunError(error));
    throw error;
  }
  writer.end(output);
}
