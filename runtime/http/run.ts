import type { Request, RequestHandler, Response } from 'express';
import type { Usage } from '../core/usage.js';
import { type ResolveMedia, withMediaResolved } from '../media/resolve.js';
import { readBody } from '../tasks/body.js';
import type { ByteBudget } from '../wire/byte-budget.js';
import { gone } from '../wire/plumbing.js';
import { asRunError, sendEnvelope } from '../wire/respond.js';
import type { ModelService } from './service.js';
import { createStreamWriter } from './text-stream.js';
import { setUsageHeaders } from './usage.js';

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
    if (stream) return streamed(request, response, (told) => service.run(resolved, { signal, ...told }));
    const onUsage = (usage: Usage) => setUsageHeaders(response, usage);
    sendEnvelope(response, 200, { error: null, output: await service.run(resolved, { signal, onUsage }) });
  };
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
    // Before the first piece this is an ordinary error answer.
    if (response.headersSent) writer.fail(asRunError(error));
    throw error;
  }
  writer.end(output, usage);
}
