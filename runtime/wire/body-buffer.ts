import type { ServerResponse } from 'node:http';
import type { Request } from 'express';
import { RunError } from '../core/errors.js';
import type { ReserveBytes } from './byte-budget.js';
import { clientClosedRequest } from './lifetime.js';

export interface BodyLimits {
  maxBytes: number;
  /** The variable that sets it. */
  setting: string | undefined;
  hold: ReserveBytes;
}

export function bodyTooLarge({ maxBytes, setting }: Omit<BodyLimits, 'hold'>): RunError {
  const where = setting === undefined ? '' : ` (${setting})`;
  return new RunError('payload_too_large', `the body is larger than ${maxBytes} bytes${where}`);
}

/** Bytes that come in pieces, in one buffer: pieces of one byte each would take a hundred times their size. */
export interface BodyBuffer {
  /** @throws RunError when they are more than may be, or more than may be held */
  add(piece: Buffer): void;
  bytes(): Buffer;
}

const LEAST = 2 ** 14;

/** So many bytes have to come before it is believed how many there will be. */
const BELIEVED_FROM = 2 ** 19;

/** @param announced how many bytes there will be, as somebody says */
export function createBodyBuffer(limits: BodyLimits, announced = 0): BodyBuffer {
  const { maxBytes, hold } = limits;
  let buffer: Buffer = Buffer.alloc(0);
  let size = 0;
  /** Copies of large bodies keep everybody waiting: one is made, where it is known how large it will be. */
  const roomFor = (bytes: number) =>
    Math.min(maxBytes, bytes >= BELIEVED_FROM && announced >= bytes ? announced : Math.max(2 * bytes, LEAST));

  return {
    add(piece) {
      const grown = size + piece.length;
      if (grown > maxBytes) throw bodyTooLarge(limits);
      hold(piece.length);
      if (size === 0) buffer = piece;
      else {
        if (grown > buffer.length) buffer = enlarged(buffer.subarray(0, size), roomFor(grown));
        piece.copy(buffer, size);
      }
      size = grown;
    },
    bytes: () => buffer.subarray(0, size),
  };
}

function enlarged(bytes: Buffer, size: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(size);
  bytes.copy(larger);
  return larger;
}

/** So many pieces may be of any size; each costs as much as some hundred bytes. */
const FREE_PIECES = 5000;
const LEAST_PIECE = 64;

function announcedBy({ headers }: Request): number {
  return Number(headers['content-length'] ?? 0);
}

/** By events: an iterator would be most of what a short body costs. */
export function readBodyBytes(
  request: Request,
  response: ServerResponse,
  limits: BodyLimits,
): Promise<Buffer> {
  const gathered = createBodyBuffer(limits, announcedBy(request));
  let [pieces, size] = [0, 0];
  return new Promise((resolve, reject) => {
    const left = () => reject(clientClosedRequest());
    if (request.destroyed) return left();
    const take = (chunk: Buffer) => {
      try {
        gathered.add(chunk);
        size += chunk.length;
        if (++pieces > FREE_PIECES && size < pieces * LEAST_PIECE) throw inCrumbs(request, response);
      } catch (error) {
        // The rest flows on and is thrown away: a client that is still sending would miss the answer otherwise.
        request.off('data', take);
        reject(error);
      }
    };
    request.on('data', take);
    request.once('close', left);
    request.once('end', () => {
      request.off('close', left);
      resolve(gathered.bytes());
    });
  });
}

/** What follows is not even thrown away: that would cost as much. */
function inCrumbs(request: Request, response: ServerResponse): RunError {
  request.pause();
  response.setHeader('Connection', 'close');
  return new RunError(
    'invalid_input',
    `the body comes in more than ${FREE_PIECES} pieces of less than ${LEAST_PIECE} bytes; send larger ones`,
  );
}
