import accepts from 'accepts';
import type { Request, Response } from 'express';
import type { Delta } from '../core/delta.js';
import type { RunError } from '../core/errors.js';
import { dataUrlOf, isMediaOutput } from '../core/media-output.js';
import type { Progress } from '../core/progress.js';
import type { Usage } from '../core/usage.js';
import { pingUntilBegun } from '../wire/pings.js';
import { usageEvent } from '../wire/usage.js';

/** Streams an answer. The status line is sent with the first chunk. */
export interface StreamWriter {
  /** Writes a piece of the answer; plain text has room for text only. */
  write(delta: Delta): void;
  /** Tells how far the work is, if the format can. */
  step(progress: Progress): void;
  /** The answer is complete. */
  end(output: unknown, usage?: Usage): void;
  /** Reports an error after the first chunk, if the format can. The caller closes the connection. */
  fail(error: RunError): void;
}

/** Writes plain text, or server-sent events if the client accepts them. */
export function createStreamWriter(request: Request, response: Response): StreamWriter {
  return prefersEvents(request, 'text/plain') ? createEventWriter(response) : plainStream(response);
}

/** Whether a client that takes either would rather have server-sent events than another type. */
export function prefersEvents(request: Request, other: string): boolean {
  return accepts(request).type([other, EVENTS]) === EVENTS;
}

const EVENTS = 'text/event-stream';

function open(response: Response, type: string): void {
  if (response.headersSent) return;
  response.statusCode = 200;
  response.setHeader('Content-Type', type);
  response.setHeader('Cache-Control', 'no-cache');
  response.setHeader('X-Accel-Buffering', 'no');
  response.flushHeaders();
}

/** Without framing and end marker: a broken connection is the only sign of a late error. */
function plainStream(response: Response): StreamWriter {
  const type = 'text/plain; charset=utf-8';
  return {
    write(delta) {
      open(response, type);
      if ('text' in delta) response.write(delta.text);
    },
    step: () => {},
    end() {
      open(response, type);
      response.end();
    },
    fail: () => {},
  };
}

/** Writes server-sent events. */
export function createEventWriter(response: Response): StreamWriter {
  const begin = () => open(response, `${EVENTS}; charset=utf-8`);
  const stopPings = pingUntilBegun(response, begin);
  const event = (name: string, data: unknown): void => {
    stopPings();
    begin();
    response.write(`${name === '' ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`);
  };
  return {
    write: (delta) => event('', delta),
    step: (progress) => event('progress', progress),
    end(output, usage) {
      const whole = isMediaOutput(output) ? dataUrlOf(output) : output;
      event('final', { output: whole, ...(usage ? { usage: usageEvent(usage) } : {}) });
      response.end();
    },
    fail(error) {
      event('error', { error: error.message });
      response.end();
    },
  };
}
