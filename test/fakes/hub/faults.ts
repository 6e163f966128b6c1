import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { type Sending, sendBody } from './send-body.js';

/** Something that goes wrong with one answer. Only one of the kinds is set. */
export interface Fault {
  /** Part of the path and query of the requests that it strikes. */
  path: string;
  /** How often; 1. */
  times?: number;
  /** Cut the connection after so many bytes of the body. */
  dropAfter?: number;
  /** End the body properly after so many bytes, with no length announced. */
  endAfter?: number;
  /** Say nothing more after so many bytes, and keep the connection. */
  stallAfter?: number;
  /** Never answer at all. */
  silent?: boolean;
  /** Answer with this status. */
  status?: number;
  /** Header of that answer. */
  retryAfter?: string;
  /** Flip a bit of the body. */
  wrongBytes?: boolean;
  /** More bytes than announced in the listing. */
  extraBytes?: number;
  /** A web page with status 200. */
  html?: boolean;
  /** Answer a range request with the whole file and status 200. */
  ignoreRange?: boolean;
  /** Answer a range request with bytes that begin so many bytes after (or, below 0, before) what was asked for. */
  shiftBy?: number;
  /** Compress the body, whatever the request accepts. */
  gzip?: boolean;
  /** Announce so many bytes more than there are, and keep the connection. */
  promise?: number;
  /** A byte now and then, without an end. */
  drip?: boolean;
  /** Send the client there. */
  location?: string;
}

export interface FaultList {
  add(fault: Fault): void;
  /** The fault that strikes this request, used up once. */
  take(url: string): Fault | undefined;
  clear(): void;
}

export function faultList(): FaultList {
  const faults: (Fault & { left: number })[] = [];
  return {
    clear: () => void faults.splice(0),
    add: (fault) => void faults.push({ ...fault, left: fault.times ?? 1 }),
    take(url) {
      const fault = faults.find(({ path, left }) => left > 0 && url.includes(path));
      if (fault) fault.left--;
      return fault;
    },
  };
}

export interface FaultyAnswer {
  fault: Fault;
  response: ServerResponse;
  /** What a right answer would hold. */
  body: Buffer;
  /** Where `body` begins in its file. */
  start: number;
  sending: Sending;
}

export function sendFaulty({ fault, response, body, start, sending }: FaultyAnswer): void {
  if (fault.silent) return;
  if (fault.status !== undefined) {
    if (fault.retryAfter) response.setHeader('retry-after', fault.retryAfter);
    return void response
      .writeHead(fault.status, { 'content-type': 'application/json' })
      .end('{"error":"fault"}');
  }
  if (fault.location !== undefined) return void response.writeHead(302, { location: fault.location }).end();
  if (fault.html)
    return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>log in</html>');
  if (start > 0)
    response.setHeader('content-range', `bytes ${start}-${start + body.length - 1}/${start + body.length}`);
  const status = start > 0 ? 206 : 200;
  if (fault.drip) return drip(response, body);
  if (fault.gzip) return void response.writeHead(status, { 'content-encoding': 'gzip' }).end(gzipSync(body));
  if (fault.promise !== undefined) {
    response.writeHead(status, { 'content-length': body.length + fault.promise });
    return void response.write(body);
  }
  if (fault.wrongBytes || fault.extraBytes !== undefined || fault.ignoreRange || fault.shiftBy) {
    response.writeHead(status);
    return void sendBody(response, altered(body, fault), sending).then(() => response.end());
  }
  sendPart({ fault, response, body, status, sending });
}

function drip(response: ServerResponse, body: Buffer): void {
  response.writeHead(200, { 'content-length': body.length });
  let at = 0;
  const timer = setInterval(() => response.write(body.subarray(at, ++at)), 20);
  response.once('close', () => clearInterval(timer));
}

function altered(body: Buffer, { wrongBytes, extraBytes = 0 }: Fault): Buffer {
  const copy = Buffer.concat([body, Buffer.alloc(extraBytes)]);
  if (wrongBytes) copy[copy.length >> 1]! ^= 1;
  return copy;
}

function sendPart({
  fault,
  response,
  body,
  status,
  sending,
}: Omit<FaultyAnswer, 'start'> & { status: number }): void {
  const { dropAfter, endAfter, stallAfter } = fault;
  const count = dropAfter ?? endAfter ?? stallAfter ?? body.length;
  if (dropAfter !== undefined || stallAfter !== undefined) response.setHeader('content-length', body.length);
  response.writeHead(status).flushHeaders();
  void sendBody(response, body.subarray(0, count), sending).then(() => {
    if (endAfter !== undefined) response.end();
    // The pause lets the bytes arrive before the connection goes.
    if (dropAfter !== undefined) setTimeout(() => response.destroy(), 20);
  });
}
