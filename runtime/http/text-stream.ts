import accepts from 'accepts';
import type { Request, Response } from 'express';
import type { RunError } from '../core/errors.js';
import type { Usage } from '../core/usage.js';
import { usageEvent } from './usage.js';

/** Streams a text answer. The status line is sent with the first chunk. */
export interface StreamWriter {
  write(text: string): void;
  /** The answer is complete. */
  end(output: unknown, usage?: Usage): void;
  /** Reports an error after the first chunk, if the format can. The caller closes the connection. */
  fail(error: RunError): void;
}

/** Writes plain text, or server-sent events if the client accepts them. */
export function createStreamWriter(request: Request, response: Response): StreamWriter {
  const acceptsEvents = accepts(request).type(['text/plain', 'text/event-stream']);
  return acceptsEvents === 'text/event-stream' ? eventStream(response) : plainStream(response);
}

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
    write(text) {
      open(response, type);
      response.write(text);
    },
    end() {
      open(response, type);
      response.end();
    },
    fail: () => {},
  };
}

function eventStream(response: Response): StreamWriter {
  const event = (name: string, data: unknown): void => {
    open(response, 'text/event-stream; charset=utf-8');
    response.write(`${name === '' ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`);
  };
  return {
    write: (text) => event('', { text }),
    end(output, usage) {
      event('final', { output, ...(usage ? { usage: usageEvent(usage) } : {}) });
      response.end();
    },
    fail(error) {
      event('error', { error: error.message });
      response.end();
    },
  };
}
