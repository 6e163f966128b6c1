import type { ServerResponse } from 'node:http';

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
}

export interface FaultList {
  add(fault: Fault): void;
  /** The fault that strikes this request, used up once. */
  take(url: string): Fault | undefined;
}

export function faultList(): FaultList {
  const faults: (Fault & { left: number })[] = [];
  return {
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
}

export function sendFaulty({ fault, response, body, start }: FaultyAnswer): void {
  if (fault.silent) return;
  if (fault.status !== undefined) {
    if (fault.retryAfter) response.setHeader('retry-after', fault.retryAfter);
    return void response
      .writeHead(fault.status, { 'content-type': 'application/json' })
      .end('{"error":"fault"}');
  }
  if (fault.html)
    return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>log in</html>');
  if (start > 0)
    response.setHeader('content-range', `bytes ${start}-${start + body.length - 1}/${start + body.length}`);
  const status = start > 0 ? 206 : 200;
  if (fault.wrongBytes || fault.extraBytes !== undefined || fault.ignoreRange) {
    return void response.writeHead(status).end(altered(body, fault));
  }
  sendPart({ fault, response, body, status });
}

function altered(body: Buffer, { wrongBytes, extraBytes = 0 }: Fault): Buffer {
  const copy = Buffer.concat([body, Buffer.alloc(extraBytes)]);
  if (wrongBytes) copy[copy.length >> 1]! ^= 1;
  return copy;
}

function sendPart({ fault, response, body, status }: Omit<FaultyAnswer, 'start'> & { status: number }): void {
  const { dropAfter, endAfter, stallAfter } = fault;
  const count = dropAfter ?? endAfter ?? stallAfter ?? body.length;
  if (dropAfter !== undefined || stallAfter !== undefined) response.setHeader('content-length', body.length);
  response.writeHead(status);
  if (endAfter !== undefined) return void response.end(body.subarray(0, count));
  // The pause lets the bytes arrive before the connection goes.
  response.write(body.subarray(0, count), () => {
    if (dropAfter !== undefined) setTimeout(() => response.destroy(), 20);
  });
}
