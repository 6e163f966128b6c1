import accepts from 'accepts';
import type { Request, Response } from 'express';
import type { RunError } from '../core/errors.js';
import type { Usage } from '../core/usage.js';
import { usageEvent } from './usage.js';

/** Writes a text answer piece by piece. The status line waits for the first piece. */
export interface StreamWriter {
  write(text: string): void;
  /** The answer is complete. */
  end(output: unknown, usage?: Usage): void;
  /** The answer broke off after its first piece: says so where the format can. The connection is cut elsewhere. */
  fail(error: RunError): void;
}

/** Plain text chunks, or server-sent events where the client asks for them. */
export function createStreamWriter(request: Request, response: Response): StreamWriter {
  const wanted = accepts(request).type(['text/plain', 'text/event-stream']);
  return wanted === 'text/event-stream' ? eventStream(response) : plainStream(response);
}

function open(response: Response, type: string): void {
  if (response.headersSent) return;
  response.statusCode = 200;
  response.setHeader('Content-Type', type);
  response.setHeader('Cache-Control', 'no-cache');
  response.setHeader('X-Accel-Buffering', 'no');
  response.flushHeaders();
}

/** No framing and no end marker: a cut connection is the only sign of an error that came late. */
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
