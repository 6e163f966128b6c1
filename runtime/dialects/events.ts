import type { Response } from 'express';

/** Begins an answer of server-sent events. */
export function openEvents(response: Response): void {
  // Not `response.status`: some responses never saw a router of Express.
  response.statusCode = 200;
  response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  response.setHeader('Cache-Control', 'no-cache');
  response.setHeader('X-Accel-Buffering', 'no');
}
